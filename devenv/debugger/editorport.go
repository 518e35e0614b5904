// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// setLaunchPort returns a launch.json of VS Code in which a configuration has this port. It changes nothing else, so
// that comments and the order stay. Without the configuration, or without a port in it, it returns the text.
func setLaunchPort(text []byte, configuration string, port int) ([]byte, error) {
	launch := withoutComments(text)
	list, at, err := member(launch, "configurations")
	if err != nil || list == nil {
		return text, err
	}
	decoder := json.NewDecoder(bytes.NewReader(list))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	for decoder.More() {
		var object json.RawMessage
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		start := at + int(decoder.InputOffset()) - len(object)
		var named struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(object, &named); err != nil {
			return nil, err
		}
		if named.Name != configuration {
			continue
		}
		value, offset, err := member(object, "port")
		if err != nil || value == nil {
			return text, err
		}
		return replaced(text, start+offset, len(value), strconv.Itoa(port)), nil
	}
	return text, nil
}

// member returns a member of a JSON object, and where it begins; nil without one.
func member(object []byte, name string) (value json.RawMessage, offset int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	open, err := decoder.Token()
	if err != nil {
		return nil, 0, err
	}
	if open != json.Delim('{') {
		return nil, 0, fmt.Errorf("%v does not begin a JSON object", open)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, 0, err
		}
		if err := decoder.Decode(&value); err != nil {
			return nil, 0, err
		}
		if key == name {
			return value, int(decoder.InputOffset()) - len(value), nil
		}
	}
	return nil, 0, nil
}

// withoutComments replaces by blanks what VS Code accepts in JSON and encoding/json does not: comments, and commas
// before a closing bracket. What is left stays at its offset.
func withoutComments(text []byte) []byte {
	text = slices.Clone(text)
	blank := func(from, to int) int {
		for i := from; i < to; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
		return to
	}
	after := func(from int, mark string) int {
		if i := bytes.Index(text[from:], []byte(mark)); i >= 0 {
			return from + i + len(mark)
		}
		return len(text)
	}
	comma := -1
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case bytes.HasPrefix(rest, []byte("//")):
			i = blank(i, after(i, "\n"))
		case bytes.HasPrefix(rest, []byte("/*")):
			i = blank(i, after(i+2, "*/"))
		case rest[0] == '"':
			comma = -1
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		default:
			switch {
			case rest[0] == ',':
				comma = i
			case (rest[0] == '}' || rest[0] == ']') && comma >= 0:
				blank(comma, comma+1)
				comma = -1
			case !strings.ContainsRune(" \t\r\n", rune(rest[0])):
				comma = -1
			}
			i++
		}
	}
	return text
}

// portAttribute is the port in a start element of XML.
var portAttribute = regexp.MustCompile(`\sport\s*=\s*["'](\d*)["']`)

// setRunPort is setLaunchPort for a run configuration of GoLand.
func setRunPort(text []byte, configuration string, port int) ([]byte, error) {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		start := int(decoder.InputOffset())
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, err
		}
		element, ok := token.(xml.StartElement)
		if !ok || element.Name.Local != "configuration" || !slices.ContainsFunc(element.Attr, func(a xml.Attr) bool {
			return a.Name.Local == "name" && a.Value == configuration
		}) {
			continue
		}
		place := portAttribute.FindSubmatchIndex(text[start:decoder.InputOffset()])
		if place == nil {
			return text, nil
		}
		return replaced(text, start+place[2], place[3]-place[2], strconv.Itoa(port)), nil
	}
}

// replaced returns a text in which some bytes at an offset are others.
func replaced(text []byte, offset, length int, by string) []byte {
	return slices.Concat(text[:offset], []byte(by), text[offset+length:])
}
