// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	module = "github.com/pipedeck/pipedeck"
	// bundled is the one program of the bundled plugins.
	bundled = "bundled"
)

// pluginNames are the bundled plugins.
var pluginNames = []string{
	"analysis", "kubernetes", "kubernetes_multicluster", "scriptrun", "terraform", "wait", "waitapproval",
}

// manualFolder has the manual pages.
const manualFolder = "share/man/man1"

// documents are the files of the repository that a release holds.
var documents = []string{"LICENSE", "README.md", "CHANGELOG.md"}

// build makes the directory that the users of a target will have.
func (r *release) build(t target, dir string) error {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(filepath.Join(bin, "plugins"), 0o755); err != nil {
		return err
	}
	programs, err := mains(filepath.Join(r.root, "cmd"))
	if err != nil {
		return err
	}
	for _, name := range programs {
		if err := r.compile(t, filepath.Join(bin, name), r.root, nil, "./cmd/"+name); err != nil {
			return err
		}
	}
	if err := r.compileBundle(t, filepath.Join(bin, "plugins", bundled)); err != nil {
		return err
	}
	for _, name := range pluginNames {
		if err := os.Symlink(bundled, filepath.Join(bin, "plugins", name)); err != nil {
			return err
		}
	}
	if err := r.compileEmbedded(t, filepath.Join(bin, "embeddedk8s")); err != nil {
		return err
	}
	if err := r.compileSamples(t, filepath.Join(bin, "images")); err != nil {
		return err
	}
	if err := r.manual(filepath.Join(dir, filepath.FromSlash(manualFolder))); err != nil {
		return err
	}
	for _, name := range documents {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sdk writes the sources that pipedeck gives new plugins; the programs of all targets embed them.
func (r *release) sdk() error {
	output := filepath.Join(r.root, "cmd/pipedeck/scaffold/archive/files/sdk.tar.gz")
	return run(exec.Command("go", "run", "./sdkarchive", "-root", r.root, "-output", output),
		filepath.Join(r.root, "tools"), "GOWORK=off")
}

// manual writes the manual pages.
func (r *release) manual(dir string) error {
	return run(exec.Command("go", "run", "./cmd/pipedeck/reference/generate", "-man", dir, "-version", r.version,
		"-date", strconv.FormatInt(r.date.Unix(), 10)), r.root)
}

// mains are the folders with a main package directly below dir.
func mains(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*", "main.go"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("there are no programs in %s: %w", dir, err)
	}
	var names []string
	for _, file := range found {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names, nil
}

// compile builds one program. The same sources give the same bytes, wherever they are.
func (r *release) compile(t target, output, dir string, environ []string, args ...string) error {
	set := func(name, value string) string { return "-X " + module + "/" + name + "=" + value }
	sdk := ""
	if r.published {
		sdk = "v" + r.version
	}
	flags := strings.Join([]string{
		"-s -w -X main.version=" + r.version,
		set("cmd/pipedeck/version.linked", r.version), set("cmd/pipedeck/version.publicKey", r.key.public),
		set("cmd/pipedeck/version.commit", r.commit), set("cmd/pipedeck/version.date", r.date.Format(time.RFC3339)),
		set("plugins/sdk.version", r.version), set("cmd/pipedeck/scaffold.published", sdk),
	}, " ")
	cmd := exec.Command("go", append([]string{
		"build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags", flags, "-o", output,
	}, args...)...)
	return run(cmd, dir, append(platform(t), environ...)...)
}

// compileEmbedded builds the embedded Kubernetes with its flags; its modules are always at the same place in the
// repository.
func (r *release) compileEmbedded(t target, output string) error {
	const sources = "devenv/embeddedk8s"
	cmd := exec.Command("go", "run", "./devenv/cluster/embedded/trim/command", sources, ".cache/embeddedk8s")
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	flags, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("trim the modules of the embedded Kubernetes: %w", err)
	}
	args := append(strings.Split(strings.TrimSpace(string(flags)), "\n"), ".")
	return r.compile(t, output, filepath.Join(r.root, sources), []string{"GOWORK=off"}, args...)
}

// platform is the environment of a go command for a target.
func platform(t target) []string {
	return []string{
		"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=",
		"GOEXPERIMENT=",
	}
}

// compileSamples builds the programs of the samples, for containers and for this system itself.
func (r *release) compileSamples(t target, dir string) error {
	host := filepath.Join(r.output, workFolder, "pipedeck-here")
	if _, err := os.Stat(host); err != nil {
		here := target{runtime.GOOS, runtime.GOARCH}
		if err := r.compile(here, host, r.root, nil, "./cmd/pipedeck"); err != nil {
			return err
		}
	}
	args := []string{"compile-samples", "--output", dir, "--platform", "linux/" + t.arch}
	if t.os != "linux" {
		args = append(args, "--platform", t.String())
	}
	return run(exec.Command(host, args...), r.root)
}

// run runs a command in a directory; its output is shown.
func run(cmd *exec.Cmd, dir string, environ ...string) error {
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	cmd.Env = append(append(os.Environ(), "PWD="+dir), environ...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s in %s: %w", strings.Join(cmd.Args[:2], " "), dir, err)
	}
	return nil
}
