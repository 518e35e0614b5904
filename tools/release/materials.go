// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// document is a bill of materials in the form of SPDX 2.3.
type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []component    `json:"packages"`
	Files             []material     `json:"files"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// component is a package in the words of SPDX: the release itself, or a Go module.
type component struct {
	SPDXID           string      `json:"SPDXID"`
	Name             string      `json:"name"`
	VersionInfo      string      `json:"versionInfo"`
	DownloadLocation string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	CopyrightText    string      `json:"copyrightText"`
	ExternalRefs     []reference `json:"externalRefs,omitempty"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type material struct {
	SPDXID             string     `json:"SPDXID"`
	FileName           string     `json:"fileName"`
	FileTypes          []string   `json:"fileTypes"`
	Checksums          []checksum `json:"checksums"`
	LicenseConcluded   string     `json:"licenseConcluded"`
	LicenseInfoInFiles []string   `json:"licenseInfoInFiles"`
	CopyrightText      string     `json:"copyrightText"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const unknown = "NOASSERTION"

// notInID are the characters that identifiers of SPDX must not have.
var notInID = regexp.MustCompile(`[^0-9A-Za-z.-]+`)

// materials writes the bill of materials of a target: its files, and for each program the Go modules that the toolchain
// has written into it.
func (r *release) materials(t target, dir string, list []listed) error {
	sum := sha256.New()
	for _, f := range list {
		fmt.Fprintln(sum, f.Path, f.SHA256)
	}
	const product = "SPDXRef-Package-pipedeck"
	bill := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: r.name(t),
		DocumentNamespace: "https://github.com/pipedeck/pipedeck/spdx/" + r.name(t) + "-" +
			hex.EncodeToString(sum.Sum(nil))[:32],
		CreationInfo: creation{r.date.Format(time.RFC3339), []string{"Tool: pipedeck-release-" + r.version}},
		Packages: []component{{
			SPDXID: product, Name: "pipedeck", VersionInfo: r.version, DownloadLocation: r.url,
			LicenseConcluded: "Apache-2.0", LicenseDeclared: "Apache-2.0", CopyrightText: "The pipedeck Authors",
		}},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", product}},
	}
	modules := map[string]component{}
	for _, f := range list {
		if f.Link != "" || f.SHA256 == "" {
			continue
		}
		file, linked, err := describe(dir, f)
		if err != nil {
			return err
		}
		bill.Files = append(bill.Files, file)
		bill.Relationships = append(bill.Relationships, relationship{product, "CONTAINS", file.SPDXID})
		for _, m := range linked {
			modules[m.SPDXID] = m
			bill.Relationships = append(bill.Relationships, relationship{file.SPDXID, "DEPENDS_ON", m.SPDXID})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		bill.Packages = append(bill.Packages, modules[id])
	}
	content, err := json.MarshalIndent(bill, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.add(r.name(t)+".spdx.json"), append(content, '\n'), 0o644)
}

// describe returns a file and the modules that are linked into it; none when it is no Go program.
func describe(dir string, f listed) (material, []component, error) {
	file := material{
		SPDXID: "SPDXRef-File-" + notInID.ReplaceAllString(f.Path, "-"), FileName: "./" + f.Path,
		FileTypes: []string{"TEXT"}, Checksums: []checksum{{"SHA256", f.SHA256}},
		LicenseConcluded: unknown, LicenseInfoInFiles: []string{unknown}, CopyrightText: unknown,
	}
	if !strings.HasPrefix(f.Path, "bin/") {
		return file, nil, nil
	}
	file.FileTypes = []string{"BINARY"}
	info, err := buildinfo.ReadFile(filepath.Join(dir, f.Path))
	if err != nil {
		return file, nil, fmt.Errorf("read the modules of %s: %w", f.Path, err)
	}
	linked := []component{moduleOf("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dependency := range info.Deps {
		used := cmp.Or(dependency.Replace, dependency)
		if strings.HasPrefix(used.Path, module) {
			continue // of this repository
		}
		linked = append(linked, moduleOf(used.Path, used.Version))
	}
	return file, linked, nil
}

func moduleOf(path, version string) component {
	return component{
		SPDXID: "SPDXRef-Package-go-" + notInID.ReplaceAllString(path+"-"+version, "-"), Name: path,
		VersionInfo: version, DownloadLocation: unknown, LicenseConcluded: unknown, LicenseDeclared: unknown,
		CopyrightText: unknown,
		ExternalRefs:  []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
}
