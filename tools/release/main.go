// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command release builds what a release consists of: an archive for each target with everything ready to run, packages
// for Debian and RPM, a container image and a Helm chart of piped, a formula for Homebrew, a bill of materials, an
// installer, checksums and signatures.
//
//	release -root . -version 0.1.0 -output dist [-targets linux/amd64,darwin/arm64] [-key FILE]
//
// The files depend on the sources, the version of Go, the version, the date of the commit and the key alone, and not on
// the place of the clone or on caches. Programs for macOS are cross-built: they are never run here.
//
// It is a separate module, so that what it needs is part of no program. nfpm is used as a library; goreleaser and
// syft are not used. goreleaser would run the same go commands, and it knows neither the module of the embedded
// Kubernetes nor the main that is generated for the bundled plugins. What syft finds in Go programs is what the Go
// toolchain has written into them, and reading that takes few lines.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// allTargets are the targets of a release.
const allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// target is what programs are built for, in Go's words.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// release is what all targets have in common.
type release struct {
	root, output string
	version      string
	// url is where the files will be downloaded from.
	url string
	// date is that of the commit: it is the time of every file.
	date time.Time
	// commit is the hash of the commit; empty when the sources are no checkout.
	commit string
	key    *signer
	// published says that module proxies have the SDK in this version.
	published bool
	// made are the files of the release, relative to output.
	made []string
}

// versionRule is that of versions without the letter v.
var versionRule = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func main() {
	r := &release{}
	var targets, keyFile string
	flag.StringVar(&r.root, "root", ".", "the repository")
	flag.StringVar(&r.output, "output", "dist", "directory for the files; it is emptied")
	flag.StringVar(&r.version, "version", "", "version, such as 0.1.0 (required)")
	flag.StringVar(&targets, "targets", allTargets, "what to build for")
	flag.StringVar(&keyFile, "key", "", "private key of minisign without a password, or its password in "+
		passwordVariable+"; by default a new key, which no one can trust")
	flag.BoolVar(&r.published, "published", false, "module proxies have the SDK in this version: new plugins "+
		"require it in place of having its sources")
	newKey := flag.String("new-key", "", "only write a new key without a password to this file, and its public key to "+
		"FILE.pub")
	flag.StringVar(&r.url, "url", "", "where the files will be downloaded from")
	flag.Parse()
	if *newKey != "" {
		if err := writeKey(*newKey); err != nil {
			fmt.Fprintln(os.Stderr, "release:", err)
			os.Exit(1)
		}
		return
	}
	if err := r.run(strings.Split(targets, ","), keyFile); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(targets []string, keyFile string) error {
	if err := r.prepare(keyFile); err != nil {
		return err
	}
	if err := r.sdk(); err != nil {
		return err
	}
	var archives []archive
	for _, name := range targets {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("%q is not a target like linux/amd64", name)
		}
		made, err := r.target(target{system, arch})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		archives = append(archives, made)
	}
	for _, step := range []func() error{
		r.chart, func() error { return r.formula(archives) }, r.installer, r.checksums,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Printf("release %s in %s, signed by the key %s\n", r.version, r.output, r.key.public)
	return os.RemoveAll(filepath.Join(r.output, workFolder))
}

// workFolder holds what is not part of the release, below the output.
const workFolder = ".work"

func (r *release) prepare(keyFile string) (err error) {
	r.version = strings.TrimPrefix(r.version, "v")
	if !versionRule.MatchString(r.version) {
		return errors.New("give a version such as 0.1.0: make release VERSION=0.1.0")
	}
	if r.url == "" {
		r.url = "https://github.com/pipedeck/pipedeck/releases/download/v" + r.version
	}
	for _, dir := range []*string{&r.root, &r.output} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	if r.key, err = loadSigner(keyFile); err != nil {
		return err
	}
	if r.date, err = commitDate(r.root); err != nil {
		return err
	}
	r.commit = commitHash(r.root)
	if err := os.RemoveAll(r.output); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(r.output, workFolder), 0o755)
}

// commitDate is the date of HEAD, or that of SOURCE_DATE_EPOCH.
func commitDate(root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("find the date of the commit: %w; set SOURCE_DATE_EPOCH", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the date of the commit: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// commitHash is the hash of HEAD; empty when the sources are no checkout.
func commitHash(root string) string {
	out, err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// target makes the files of one target.
func (r *release) target(t target) (archive, error) {
	start := time.Now()
	dir := filepath.Join(r.output, workFolder, t.os+"_"+t.arch)
	if err := r.build(t, dir); err != nil {
		return archive{}, err
	}
	list, err := r.list(t, dir)
	if err != nil {
		return archive{}, err
	}
	made, err := r.archive(t, dir, list)
	if err != nil {
		return archive{}, err
	}
	if err := r.materials(t, dir, list); err != nil {
		return archive{}, err
	}
	if t.os == "linux" {
		if err := r.packages(t, dir, list); err != nil {
			return archive{}, err
		}
		if err := r.image(t, dir); err != nil {
			return archive{}, err
		}
	}
	fmt.Printf("%s: %.1f MB in %s (on %s/%s)\n", t, float64(made.size)/1e6, time.Since(start).Round(time.Second),
		runtime.GOOS, runtime.GOARCH)
	return made, os.RemoveAll(dir)
}

// name begins the names of the files for a target.
func (r *release) name(t target) string {
	return fmt.Sprintf("pipedeck_%s_%s_%s", r.version, t.os, t.arch)
}

// add notes a file of the release and returns its path.
func (r *release) add(name string) string {
	r.made = append(r.made, name)
	return filepath.Join(r.output, name)
}
