// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// legal matches the names of files that travel with the code that they are about.
var legal = regexp.MustCompile(`^(AUTHORS|CONTRIBUTORS|COPYLEFT|COPYING|COPYRIGHT|LEGAL|LICEN[CS]E|NOTICE|PATENTS)`)

// collected are the files of the archive: the content of a file, by its slash-separated path.
type collected struct {
	content map[string][]byte
	// links are files with the content of another one of the archive.
	links map[string]string
}

// collect reads the files of the packages and writes those about modules.
func collect(root string, packages []*goPackage) (*collected, error) {
	c := &collected{content: map[string][]byte{}, links: map[string]string{}}
	for _, p := range packages {
		if err := c.add(root, p); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.ImportPath, err)
		}
	}
	return c, c.describe(root, packages)
}

// add reads the files of a package, and the licences between it and its module.
func (c *collected) add(root string, p *goPackage) error {
	base := "vendor/" + p.Module.Path
	place, own := p.Module.own()
	if own {
		if err := c.read("vendor/"+p.Module.Path+"/LICENSE", filepath.Join(root, "LICENSE"), place, base); err != nil {
			return err
		}
	}
	within := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
	wanted := func(file string) (bool, error) { return compiled(file) }
	for dir, at := p.Dir, within; ; dir, at = filepath.Dir(dir), path.Dir(at) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			file := filepath.Join(dir, entry.Name())
			is := legal.MatchString(entry.Name()) && filepath.Ext(file) != ".go"
			if !is && wanted != nil && entry.Type().IsRegular() {
				if is, err = wanted(file); err != nil {
					return err
				}
			}
			if is && entry.Type().IsRegular() {
				if err := c.read(path.Join(base, at, entry.Name()), file, place, base); err != nil {
					return err
				}
			}
		}
		if at == "." || at == "" {
			break
		}
		wanted = nil // in the directories above, only licences
	}
	for _, name := range p.EmbedFiles {
		to := path.Join(base, within, filepath.ToSlash(name))
		if err := c.read(to, filepath.Join(p.Dir, name), place, base); err != nil {
			return err
		}
	}
	return nil
}

// read adds a file. One of our own modules is also in the directory of that module, so that the go command can resolve
// modules again when the author of a plugin adds one.
func (c *collected) read(to, file, place, base string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if place == "" {
		c.content[to] = content
		return nil
	}
	original := place + strings.TrimPrefix(to, base)
	c.content[original], c.links[to] = content, original
	return nil
}

// describe adds what the go command reads of modules.
func (c *collected) describe(root string, packages []*goPackage) error {
	modules, err := withRequired(modulesOf(packages))
	if err != nil {
		return err
	}
	sums, err := sumsOf(root, modules)
	if err != nil {
		return err
	}
	c.content["go.mod"], c.content["go.sum"] = goMod(modules), sums
	c.content["vendor/modules.txt"] = modulesText(modules)
	for _, m := range modules {
		place, own := m.own()
		if !own {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
		if err != nil {
			return err
		}
		c.content[place+"/go.mod"] = data
		sums, err := os.ReadFile(filepath.Join(m.Dir, "go.sum"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		c.content[place+"/go.sum"] = sums
	}
	return nil
}
