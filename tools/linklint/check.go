// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// start is the page from which every page of its folder must be reachable.
const start = "docs/README.md"

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)`)
	heading = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	fence   = regexp.MustCompile("^\\s*(```|~~~)")
	code    = regexp.MustCompile("`[^`]*`")
	// shown is the text of a link in a heading.
	shown = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// page is one Markdown file.
type page struct {
	anchors []string
	links   []target
}

type target struct {
	line int
	to   string
}

// check returns one line for each finding, in the order of the files.
func check(root fs.FS) ([]string, error) {
	pages, names, err := read(root)
	if err != nil {
		return nil, err
	}
	var findings []string
	leads := map[string][]string{}
	for _, name := range names {
		for _, l := range pages[name].links {
			to, problem := resolve(root, pages, name, l.to)
			if problem != "" {
				findings = append(findings, fmt.Sprintf("%s:%d: %s: %s", name, l.line, l.to, problem))
			}
			leads[name] = append(leads[name], to)
		}
	}
	reached := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, to := range leads[name] {
			follow(to)
		}
	}
	follow(start)
	for _, name := range names {
		if !reached[name] && !strings.HasPrefix(name, ".github/") {
			findings = append(findings, fmt.Sprintf("%s: no way leads here from %s", name, start))
		}
	}
	return findings, nil
}

// read returns all pages, and their names in order.
func read(root fs.FS) (map[string]*page, []string, error) {
	pages := map[string]*page{}
	var names []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && name != "." && name != ".github"
			if hidden || slices.Contains([]string{"bin", "vendor"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		pages[name] = parse(string(data))
		names = append(names, name)
		return nil
	})
	return pages, names, err
}

// parse collects anchors and links outside of code.
func parse(text string) *page {
	var p page
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if fence.MatchString(line) {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if title := heading.FindStringSubmatch(line); title != nil {
			p.anchors = append(p.anchors, p.anchor(title[1]))
		}
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(line, "`"), -1) {
			p.links = append(p.links, target{i + 1, found[1]})
		}
	}
	return &p
}

// anchor is the name that GitHub gives a heading: lower case, without punctuation, spaces as dashes; a name that
// exists gets a number.
func (p *page) anchor(title string) string {
	title = shown.ReplaceAllString(title, "$1")
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
	unique := name
	for n := 1; slices.Contains(p.anchors, unique); n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	return unique
}

// resolve returns the file that a link leads to; problem says why there is none. Other servers are "".
func resolve(root fs.FS, pages map[string]*page, from, link string) (file, problem string) {
	at, err := url.Parse(link)
	if err != nil {
		return "", err.Error()
	}
	if at.IsAbs() {
		return "", ""
	}
	file = from
	if at.Path != "" {
		file = path.Join(path.Dir(from), at.Path)
	}
	if _, err := fs.Stat(root, file); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", "there is no such file"
	} else if err != nil {
		return "", err.Error()
	}
	if p := pages[file]; p != nil && at.Fragment != "" && !slices.Contains(p.anchors, at.Fragment) {
		return file, "the page has no such heading"
	}
	return file, ""
}
