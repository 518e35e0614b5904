// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// MaxSize bounds a configuration file, in bytes.
const MaxSize = 512 << 10

// maxEntries bounds lines and commas together: the YAML parser takes time quadratic in the keys of a mapping.
const maxEntries = 20_000

// maxNesting bounds the brackets that are open at once and the dashes of a line before the parser sees them.
const maxNesting = 1000

// maxErrors bounds the mistakes reported for one file.
const maxErrors = 100

// applicationKinds are the kinds that an application configuration may have.
var applicationKinds = []string{KindApplication, "KubernetesApp", "TerraformApp", "LambdaApp", "CloudRunApp", "ECSApp"}

// LoadPiped reads and checks the piped configuration at the path. Mistakes in it come back as Errors.
func LoadPiped(path string) (*Piped, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read piped configuration: %w; name an existing file with --config-file", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read piped configuration: %w", err)
	}
	return ParsePiped(data, path)
}

// ParsePiped decodes and checks a piped configuration; filename is used in messages only. Mistakes come
// back as Errors.
func ParsePiped(data []byte, filename string) (*Piped, error) {
	piped := &Piped{}
	warnings, _, err := parse(data, filename, []string{KindPiped}, piped, func(d *decoder) { checkPiped(d, piped) })
	if err != nil {
		return nil, err
	}
	piped.Warnings = warnings
	return piped, nil
}

// ParseApplication decodes and checks an application configuration; filename is used in messages only.
// Mistakes come back as Errors.
func ParseApplication(data []byte, filename string) (*Application, error) {
	application := &Application{}
	warnings, kind, err := parse(data, filename, applicationKinds, application, func(d *decoder) { checkApplication(d, application) })
	if err != nil {
		return nil, err
	}
	application.Kind = kind
	application.Warnings = warnings
	return application, nil
}

// DefaultApplicationFilename is the application configuration's name when an application names none.
const DefaultApplicationFilename = "app.pipecd.yaml"

// IsApplicationFilename reports whether a file of that base name holds an application configuration:
// app.pipecd.yaml, anything else ending in .pipecd.yaml, or the older .pipe.yaml.
func IsApplicationFilename(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".pipecd.yaml") || base == ".pipe.yaml"
}

func parse(data []byte, filename string, kinds []string, spec any, check func(*decoder)) (warnings Errors, kind string, err error) {
	d := &decoder{file: filename, places: map[string]position{}}
	root := d.tree(data)
	if root != nil {
		kind = d.header(root, kinds)
		target := reflect.ValueOf(spec).Elem()
		setDefaults(target)
		switch body := root.child("spec"); {
		case len(d.errors) > 0 && kind == "": // Another kind of file: its keys say nothing.
		case body == nil || body.kind == nullNode:
			d.errorf(position{1, 1}, "spec", "is required and must not be empty")
		default:
			d.decode(body, target, "spec")
			check(d)
		}
	}
	if len(d.errors) > 0 {
		return nil, "", d.sorted(d.errors)
	}
	return d.sorted(d.warnings), kind, nil
}

// tree parses the bytes; nil means that the errors say why there is nothing to decode.
func (d *decoder) tree(data []byte) *node {
	if len(data) > MaxSize {
		d.errorf(position{}, "", "the file is larger than %d KiB; a configuration is never that large", MaxSize>>10)
		return nil
	}
	if bytes.Count(data, []byte{'\n'})+bytes.Count(data, []byte{','}) > maxEntries {
		d.errorf(position{}, "", "the file has more than %d lines and commas; a configuration is never that long", maxEntries)
		return nil
	}
	if nesting(data) > maxNesting {
		d.errorf(position{}, "", "brackets or dashes nested more than %d deep", maxNesting)
		return nil
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			d.errorf(place(syntax.GetToken()), "", "not valid YAML: %s", syntax.GetMessage())
		} else {
			d.errorf(position{1, 1}, "", "not valid YAML: %s", err)
		}
		return nil
	}
	r := &resolver{anchors: map[string]*anchor{}, report: func(at position, message string) { d.errorf(at, "", "%s", message) }}
	var root *node
	for _, document := range file.Docs {
		if document.Body == nil {
			continue
		}
		if root != nil {
			d.errorf(placeOf(document.Body), "", "the file holds a second YAML document; one file configures one thing")
			break
		}
		root = r.resolve(document.Body, 0)
	}
	if root == nil || root.kind != mappingNode {
		d.errorf(position{1, 1}, "", "the file is empty or holds no keys; it starts with \"apiVersion: %s\"", APIVersion)
		return nil
	}
	return root
}

// header checks apiVersion and kind and returns the kind, "" when it is not one of the kinds.
func (d *decoder) header(root *node, kinds []string) string {
	for _, entry := range root.keys {
		switch entry.name {
		case "apiVersion", "kind", "spec":
		default:
			d.unknown(entry, map[string]int{"apiVersion": 0, "kind": 0, "spec": 0}, entry.name)
		}
	}
	if version := root.child("apiVersion"); version == nil {
		d.errorf(position{1, 1}, "apiVersion", "is required: want %s", APIVersion)
	} else if version.kind != stringNode || version.text != APIVersion {
		d.errorf(version.at, "apiVersion", "%s is not allowed here: want %s", version.describe(), APIVersion)
	}
	kind := root.child("kind")
	switch {
	case kind == nil:
		d.errorf(position{1, 1}, "kind", "is required: want %s", strings.Join(kinds, " or "))
	case kind.kind != stringNode || !slices.Contains(kinds, kind.text):
		d.errorf(kind.at, "kind", "%s is not allowed here: want %s", kind.describe(), strings.Join(kinds, " or "))
	default:
		return kind.text
	}
	return ""
}

func (d *decoder) sorted(list Errors) Errors {
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if left := len(list) - maxErrors; left > 0 {
		list = append(list[:maxErrors:maxErrors], &Error{File: d.file, Message: fmt.Sprintf("%d more mistakes are not shown", left)})
	}
	return list
}

// nesting is an upper bound of how deep the parser has to recurse: brackets, or the list and key
// indicators of one line ("- - - a"). Deeper nesting by indentation cannot get far within MaxSize.
func nesting(data []byte) int {
	deepest, brackets, indicators := 0, 0, 0
	for i, c := range data {
		switch c {
		case '[', '{':
			brackets++
		case ']', '}':
			brackets = max(brackets-1, 0)
		case '\n', '\r':
			indicators = 0
		case '-', '?':
			if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t') {
				indicators++
			}
		}
		deepest = max(deepest, brackets, indicators)
	}
	return deepest
}
