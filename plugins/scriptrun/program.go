// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	// notFound is the exit code of a shell, and of env, for a program that is not there (POSIX).
	notFound = 127
	// maxTail bounds how much of the end of the output is kept, in bytes: the line of the shell is near the end.
	maxTail = 8 << 10
	// maxLast bounds what the reason of a stage has of the output, in bytes.
	maxLast = 300
)

// notFoundLine are the lines by which shells (bash, dash, the one of BusyBox) and env name a program that is not there.
var notFoundLine = regexp.MustCompile(
	`^(?:\S+: )?(?:line )?(?:\d+: )?([^\s:]+): (?:command )?not found$` +
		`|^(?:\S*/)?env: (?:can't execute )?[‘'"]?([^\s:’'"]+)[’'"]?: No such file or directory$`)

// tail keeps the end of what is written to another writer.
type tail struct {
	to   io.Writer
	kept []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.kept = append(t.kept, data[max(0, len(data)-maxTail):]...)
	if excess := len(t.kept) - maxTail; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	return t.to.Write(data)
}

// last returns the last line that is not blank, as a part of a reason; empty without one.
func (t *tail) last() string {
	line := bytes.TrimSpace(t.kept)
	line = bytes.TrimSpace(line[bytes.LastIndexAny(line, "\r\n")+1:])
	words := strings.ToValidUTF8(string(line[:min(len(line), maxLast)]), "")
	if len(line) > maxLast {
		words += "…"
	}
	return words
}

// missingProgram returns the program that a script in dir did not find; empty when the script ended by something else.
// A file of the application that is not there is a mistake of the script: no other machine has it either.
func missingProgram(exitCode int, output []byte, dir string) string {
	if exitCode != notFound {
		return ""
	}
	name := ""
	for line := range bytes.Lines(output) {
		if found := notFoundLine.FindSubmatch(bytes.TrimRight(line, "\r\n")); found != nil {
			name = string(found[1]) + string(found[2])
		}
	}
	inApplication := strings.ContainsRune(name, filepath.Separator) &&
		(!filepath.IsAbs(name) || dir != "" && strings.HasPrefix(name, dir+string(filepath.Separator)))
	if inApplication {
		return ""
	}
	return name
}
