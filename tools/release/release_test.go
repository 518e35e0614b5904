// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
)

func testRelease(t *testing.T) *release {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	must(t, writeKey(key))
	signer, err := loadSigner(key)
	must(t, err)
	return &release{output: t.TempDir(), version: "1.2.3", url: "https://example.com/v1.2.3", key: signer,
		date: time.Unix(1_700_000_000, 0).UTC()}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o644))
	must(t, os.Chmod(path, mode))
}

func TestAMainPackageBecomesAPackageWithMain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "main.go")
	put(t, file, "// Package main.\npackage main\n\ntype m struct{}\n\nfunc (m) main() {}\n\n"+
		"func main() { m{}.main() }\n", 0o644)
	content, isMain, err := asPackage(file, "wait")
	must(t, err)
	want := "// Package main.\npackage wait\n\ntype m struct{}\n\nfunc (m) main() {}\n\nfunc Main() { m{}.main() }\n"
	if !isMain || string(content) != want {
		t.Fatalf("%v\n%s", isMain, content)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "main.go", bundleMain(), 0); err != nil {
		t.Fatal(err)
	}
}

// TestTheSameFilesGiveTheSameArchive writes the archive of files that differ in their dates, modes and places.
func TestTheSameFilesGiveTheSameArchive(t *testing.T) {
	t.Parallel()
	r := testRelease(t)
	var made [][]byte
	for _, mode := range []os.FileMode{0o755, 0o700} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "bin", "pipedeck"), "a program", mode)
		put(t, filepath.Join(dir, "LICENSE"), "a licence", mode&0o644)
		must(t, os.Symlink("pipedeck", filepath.Join(dir, "bin", "deck")))
		list, err := r.list(target{"linux", "amd64"}, dir)
		must(t, err)
		a, err := r.archive(target{"linux", "amd64"}, dir, list)
		must(t, err)
		content, err := os.ReadFile(filepath.Join(r.output, a.name))
		must(t, err)
		made = append(made, content)

		signed, err := os.ReadFile(filepath.Join(dir, listName))
		must(t, err)
		signature, err := os.ReadFile(filepath.Join(dir, listName+signatureSuffix))
		must(t, err)
		var key minisign.PublicKey
		must(t, key.UnmarshalText([]byte(r.key.public)))
		if !minisign.Verify(key, signed, signature) {
			t.Fatal("the list is not signed")
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Fatal("the archives differ")
	}
}

func TestTheChartAndTheInstallerKnowTheRelease(t *testing.T) {
	t.Parallel()
	r := testRelease(t)
	r.root = filepath.Join("..", "..")
	must(t, r.chart())
	must(t, r.installer())
	must(t, r.formula([]archive{{target: target{"darwin", "arm64"}, name: "p.tar.gz", sha256: "abc"}}))
	must(t, r.checksums())
	for name, want := range map[string][]string{
		"install.sh":  {"version='1.2.3'", "key='" + r.key.public + "'", "from='https://example.com/v1.2.3'"},
		"pipedeck.rb": {`version "1.2.3"`, `url "https://example.com/v1.2.3/p.tar.gz"`, `sha256 "abc"`},
		"SHA256SUMS":  {"  install.sh\n", "  piped-1.2.3.tgz\n", "  pipedeck.rb\n"},
	} {
		content, err := os.ReadFile(filepath.Join(r.output, name))
		must(t, err)
		for _, text := range want {
			if !strings.Contains(string(content), text) {
				t.Errorf("%s has no %q:\n%s", name, text, content)
			}
		}
		if name != "SHA256SUMS" && strings.Contains(string(content), "<<") {
			t.Errorf("%s has a part that was not filled in:\n%s", name, content)
		}
	}
	if got := string(stamp([]byte("name: piped\nversion: 0.0.0\nappVersion: 0.0.0\n"), "1.2.3")); got !=
		"name: piped\nversion: \"1.2.3\"\nappVersion: \"1.2.3\"\n" {
		t.Error(got)
	}
}

// TestTheBillOfMaterialsNamesTheModulesOfAProgram describes the program that runs this test.
func TestTheBillOfMaterialsNamesTheModulesOfAProgram(t *testing.T) {
	t.Parallel()
	r, dir := testRelease(t), t.TempDir()
	self, err := os.Executable()
	must(t, err)
	program, err := os.ReadFile(self)
	must(t, err)
	put(t, filepath.Join(dir, "bin", "pipedeck"), string(program), 0o755)
	put(t, filepath.Join(dir, "LICENSE"), "a licence", 0o644)
	list, err := r.list(target{"linux", "amd64"}, dir)
	must(t, err)
	must(t, r.materials(target{"linux", "amd64"}, dir, list))
	content, err := os.ReadFile(filepath.Join(r.output, "pipedeck_1.2.3_linux_amd64.spdx.json"))
	must(t, err)
	var bill document
	must(t, json.Unmarshal(content, &bill))
	names := map[string]bool{}
	for _, p := range bill.Packages {
		names[p.Name] = true
	}
	if len(bill.Files) != 2 || !names["pipedeck"] || !names["stdlib"] || !names["aead.dev/minisign"] {
		t.Fatalf("%s", content)
	}
}

func TestTheImageOfPipedHoldsCertificatesAndThePlugins(t *testing.T) {
	t.Parallel()
	r, dir := testRelease(t), t.TempDir()
	put(t, filepath.Join(dir, "bin", "piped"), "piped", 0o755)
	put(t, filepath.Join(dir, "bin", "plugins", bundled), "plugins", 0o755)
	layer, err := r.layer(func(out *tar.Writer) error { return r.programs(out, filepath.Join(dir, "bin")) })
	must(t, err)
	content, err := layer.Uncompressed()
	must(t, err)
	found := map[string]string{}
	for in := tar.NewReader(content); ; {
		header, err := in.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		data, err := io.ReadAll(in)
		must(t, err)
		found[header.Name] = string(data) + header.Linkname
	}
	if found["bin/piped"] != "piped" || found["plugins/"+bundled] != "plugins" || found["plugins/wait"] != bundled {
		t.Fatalf("%v", found)
	}
	var base bytes.Buffer
	out := tar.NewWriter(&base)
	must(t, r.base(out))
	if strings.Count(base.String(), "BEGIN CERTIFICATE") < 100 {
		t.Fatal("there are too few certificates")
	}
}
