// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed words.yaml
var wordsFile []byte

//go:embed exceptions.yaml
var exceptionsFile []byte

// maxExceptions bounds exceptions.yaml, so that an exception stays one.
const maxExceptions = 20

// rules are the two files.
type rules struct {
	Words []word `yaml:"words"`
	// Texts are patterns of files; the others are folders. CodeElsewhere lies in Code and is left out.
	Texts         []string `yaml:"texts"`
	Code          []string `yaml:"code"`
	CodeElsewhere []string `yaml:"codeElsewhere"`
	Spelling      []string `yaml:"spelling"`

	exceptions []exception
	texts      []*regexp.Regexp
}

type word struct {
	Match string `yaml:"match"`
	Write string `yaml:"write"`

	found *regexp.Regexp
}

// exception lets the words in Text stand where File has this text.
type exception struct {
	File   string `yaml:"file"`
	Text   string `yaml:"text"`
	Reason string `yaml:"reason"`

	used bool
}

func load(words, exceptions []byte) (*rules, error) {
	var r rules
	if err := decode(words, &r); err != nil {
		return nil, fmt.Errorf("words.yaml: %w", err)
	}
	for i, w := range r.Words {
		if w.Write == "" {
			return nil, fmt.Errorf("words.yaml: %q has no replacement", w.Match)
		}
		found, err := regexp.Compile(`(?i)\b(?:` + strings.ReplaceAll(w.Match, " ", `\s+`) + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("words.yaml: %q: %w", w.Match, err)
		}
		r.Words[i].found = found
	}
	for _, pattern := range r.Texts {
		quoted := strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*`, `[^/]*`).Replace(regexp.QuoteMeta(pattern))
		r.texts = append(r.texts, regexp.MustCompile("^"+quoted+"$"))
	}
	var list struct {
		Exceptions []exception `yaml:"exceptions"`
	}
	if err := decode(exceptions, &list); err != nil {
		return nil, fmt.Errorf("exceptions.yaml: %w", err)
	}
	if len(list.Exceptions) > maxExceptions {
		return nil, fmt.Errorf("exceptions.yaml: %d exceptions; at most %d", len(list.Exceptions), maxExceptions)
	}
	for _, e := range list.Exceptions {
		if e.File == "" || e.Text == "" || e.Reason == "" {
			return nil, fmt.Errorf("exceptions.yaml: %q needs file, text and reason", e.File+": "+e.Text)
		}
	}
	r.exceptions = list.Exceptions
	return &r, nil
}

func decode(data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	return d.Decode(into)
}

// isText reports whether the words of a file are read.
func (r *rules) isText(path string) bool {
	for _, t := range r.texts {
		if t.MatchString(path) {
			return true
		}
	}
	return false
}

// allowed reports whether an exception covers the characters from..to of a text.
func (r *rules) allowed(file, text string, from, to int) bool {
	for i, e := range r.exceptions {
		if e.File != file {
			continue
		}
		for at := strings.Index(text, e.Text); at >= 0; {
			if at <= from && to <= at+len(e.Text) {
				r.exceptions[i].used = true
				return true
			}
			next := strings.Index(text[at+1:], e.Text)
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	return false
}

// within reports whether a file lies in one of the folders.
func within(path string, folders []string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}
