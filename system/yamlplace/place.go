// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package yamlplace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxParsed bounds what is parsed again to find a line, in bytes. Beyond it the line is the first that it may be.
const maxParsed = 1 << 20

var (
	inError = regexp.MustCompile(`(?:^|[^.\w])yaml: (?:line (\d+): )?(.*)$`)
	// structural are the problems whose lines the parser counts from 0.
	structural = regexp.MustCompile(`^did not find expected (key|'-' indicator|',' or '[\]}]'|node content|` +
		`<document start>)$`)
)

// Of returns the line, counted from 1, that an error of the parser about a text is in, and what is wrong there without
// the words of the parser around it. The line is 0 where the error names none. Errors of other packages that end with
// one of the parser are understood, too.
func Of(text []byte, err error) (line int, problem string) {
	found := inError.FindStringSubmatch(err.Error())
	if found == nil {
		return 0, err.Error()
	}
	if found[1] != "" {
		line, _ = strconv.Atoi(found[1])
	}
	if structural.MatchString(found[2]) {
		line = place(text, line)
	}
	return line, found[2]
}

// Error is the error of the parser with the line that the mistake is in.
func Error(text []byte, err error) error {
	if err == nil || !inError.MatchString(err.Error()) {
		return err
	}
	line, problem := Of(text, err)
	if line == 0 {
		return errors.New(problem)
	}
	return fmt.Errorf("line %d: %s", line, problem)
}

// place returns the first line that ends a text with the same error: everything before it may be part of valid YAML,
// and nothing after it changes the error. The parser names no line after it.
func place(text []byte, named int) int {
	whole := mistake(text)
	if whole == "" {
		return named + 1 // by another parser
	}
	ends := lineEnds(text)
	parsed := 0
	first, last := min(max(named, 1), len(ends)), len(ends)
	for first < last {
		middle := (first + last) / 2
		if parsed += ends[middle-1]; parsed > maxParsed {
			return named + 1
		}
		if mistake(text[:ends[middle-1]]) == whole {
			last = middle
		} else {
			first = middle + 1
		}
	}
	return max(first, 1)
}

// lineEnds are the offsets after each line; a line feed at the end begins none.
func lineEnds(text []byte) []int {
	var ends []int
	for at := 0; at < len(text); {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return append(ends, len(text))
		}
		at += next + 1
		ends = append(ends, at)
	}
	return ends
}

// mistake is the first error of the parser; empty for YAML.
func mistake(text []byte) string {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return strings.TrimSpace(err.Error())
		}
	}
}
