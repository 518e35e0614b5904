// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"go/build"
	"go/build/constraint"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// compiled reports whether a file may be part of its package on one of the platforms, whatever other tags the author
// of a plugin builds with.
func compiled(path string) (bool, error) {
	name := filepath.Base(path)
	if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") ||
		!slices.Contains([]string{".go", ".s", ".h"}, filepath.Ext(name)) {
		return false, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	rule := ruleOf(content)
	for _, p := range platforms {
		named, err := fitsName(p, name)
		if err != nil {
			return false, err
		}
		if named && (rule == nil || possible(p, rule, true)) {
			return true, nil
		}
	}
	return false, nil
}

// fitsName reports whether the system and the processor in the name of a file are those of the platform.
func fitsName(p platform, name string) (bool, error) {
	c := build.Context{GOOS: p.os, GOARCH: p.arch, Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }}
	return c.MatchFile("", name)
}

// ruleOf returns the build constraint of a file; nil when it has none.
func ruleOf(content []byte) constraint.Expr {
	for line := range bytes.Lines(content) {
		text := strings.TrimSpace(string(line))
		if constraint.IsGoBuild(text) {
			if rule, err := constraint.Parse(text); err == nil {
				return rule
			}
		}
		if strings.HasPrefix(text, "package ") {
			break
		}
	}
	return nil
}

// systems are the names of operating systems and processors that decide constraints.
var systems = strings.Fields(`aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9
	solaris wasip1 windows zos 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm
	gccgo ignore appengine`)

// isPast reports whether a tag is set by every version of Go that may build a plugin: that of this program and newer
// ones.
func isPast(tag string) bool { return slices.Contains(build.Default.ReleaseTags, tag) }

// possible reports whether a rule can have the value on the platform. Tags that the platform does not decide can be
// set or not.
func possible(p platform, rule constraint.Expr, value bool) bool {
	switch rule := rule.(type) {
	case *constraint.NotExpr:
		return possible(p, rule.X, !value)
	case *constraint.AndExpr:
		if value {
			return possible(p, rule.X, true) && possible(p, rule.Y, true)
		}
		return possible(p, rule.X, false) || possible(p, rule.Y, false)
	case *constraint.OrExpr:
		if value {
			return possible(p, rule.X, true) || possible(p, rule.Y, true)
		}
		return possible(p, rule.X, false) && possible(p, rule.Y, false)
	case *constraint.TagExpr:
		switch {
		case rule.Tag == p.os || rule.Tag == p.arch || rule.Tag == "unix" || rule.Tag == "gc" || isPast(rule.Tag):
			return value
		case slices.Contains(systems, rule.Tag):
			return !value
		}
	}
	return true
}
