// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/system/spelling"
)

// MaxSize bounds a configuration file, in bytes.
const MaxSize = 512 << 10

// maxEntries bounds lines and commas together: the YAML parser takes time quadratic in the keys of a mapping.
const maxEntries = 20_000

// maxNesting bounds the brackets that are open at once and the dashes of a line before the parser sees them.
const maxNesting = 1000

// maxErrors bounds the mistakes reported for one file.
const maxErrors = 100

// maxNoted bounds the mistakes looked at to find the first ones of the file.
const maxNoted = 1000

// applicationKinds are the kinds that an application configuration may have.
var applicationKinds = []string{KindApplication, "KubernetesApp", "TerraformApp", "LambdaApp", "CloudRunApp", "ECSApp"}

// ApplicationKinds returns the kinds that an application configuration may have: that of v1 and those
// of v0.
func ApplicationKinds() []string { return slices.Clone(applicationKinds) }

// LoadPiped reads and checks the piped configuration at the path. Mistakes in it come back as Errors.
func LoadPiped(path string) (*Piped, error) {
	file, err := inputfile.Open(path)
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
	report := parse(data, filename, pipedTarget(piped)).forAgents()
	if len(report.Errors) > 0 {
		return nil, report.Errors
	}
	piped.Warnings, piped.report = report.Warnings, report
	return piped, nil
}

// ParseApplication decodes and checks an application configuration; filename is used in messages only.
// Mistakes come back as Errors.
func ParseApplication(data []byte, filename string) (*Application, error) {
	report := ReadApplication(data, filename)
	if len(report.Errors) > 0 {
		return nil, report.Errors
	}
	return report.Application, nil
}

// ReadApplication is [ParseApplication] with the report, which knows the places of what plugins own.
func ReadApplication(data []byte, filename string) *Report {
	application := &Application{}
	report := parse(data, filename, applicationTarget(application)).forAgents()
	application.Warnings = report.Warnings
	application.Unread = report.decoder.sorted(report.decoder.unread)
	return report
}

// DefaultApplicationFilename is the application configuration's name when an application names none.
const DefaultApplicationFilename = "app.pipecd.yaml"

// IsReportablePath reports whether the path of an application's configuration can be reported to a control plane. Paths
// in Git are bytes; PipeCD v1 takes text in UTF-8, and no line break in it.
func IsReportablePath(path string) bool {
	return utf8.ValidString(path) && !strings.ContainsAny(path, "\n\r")
}

// IsApplicationFilename reports whether a file of that base name holds an application configuration:
// app.pipecd.yaml, anything else ending in .pipecd.yaml, or the older .pipe.yaml.
func IsApplicationFilename(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".pipecd.yaml") || base == ".pipe.yaml"
}

// NotFound is why piped does not find an application configuration in a file with another name.
const NotFound = "piped does not find this application: it reads files that are called app.pipecd.yaml or end in " +
	".pipecd.yaml; rename the file"

// ResemblesApplicationFilename reports whether a file has a name that users take for that of an application
// configuration, and that [IsApplicationFilename] does not know.
func ResemblesApplicationFilename(name string) bool {
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return !IsApplicationFilename(base) && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(base)) &&
		(slices.Contains([]string{"app", "application", "pipecd", ".pipe"}, stem) || strings.HasSuffix(stem, ".pipecd"))
}

// JSON turns a configuration file into JSON, whatever its kind, with the rules and bounds of the
// decoders. Mistakes come back as Errors.
func JSON(data []byte, filename string) (json.RawMessage, error) {
	d := &decoder{file: filename}
	root := d.tree(data)
	if len(d.errors) > 0 {
		return nil, d.sorted(d.errors)
	}
	return root.json(nil), nil
}

// target is a kind of file: what its spec is decoded into, and the checks that follow.
type target struct {
	kinds []string
	spec  any
	check func(d *decoder, kind string)
}

func pipedTarget(p *Piped) target {
	return target{[]string{KindPiped}, p, func(d *decoder, _ string) { checkPiped(d, p) }}
}

func applicationTarget(a *Application) target {
	return target{applicationKinds, a, func(d *decoder, kind string) { checkApplication(d, a, kind) }}
}

func newDecoder(filename string) *decoder {
	return &decoder{file: filename, places: map[string]position{}, raw: map[string]*node{}}
}

func parse(data []byte, filename string, kinds ...target) *Report {
	d := newDecoder(filename)
	return d.report(d.tree(data), kinds...)
}

// report decodes a file with a kind. A nil root is one that the errors are about.
func (d *decoder) report(root *node, kinds ...target) *Report {
	report := &Report{decoder: d}
	if root != nil {
		var names []string
		for _, one := range kinds {
			names = append(names, one.kinds...)
		}
		report.Kind = d.header(root, names)
		if kind := root.child("kind"); kind != nil {
			d.places["kind"] = kind.at
		}
		for _, one := range kinds {
			if slices.Contains(one.kinds, report.Kind) {
				d.spec(root, one, report.Kind)
				report.take(one.spec)
			}
		}
	}
	if report.Application != nil {
		report.Application.Kind = report.Kind
	}
	report.Errors, report.Warnings, report.V0 = d.errors, d.warnings, d.sorted(d.v0)
	return report
}

func (d *decoder) spec(root *node, one target, kind string) {
	spec := reflect.ValueOf(one.spec).Elem()
	setDefaults(spec)
	body := root.child("spec")
	if body == nil && slices.Contains(applicationKinds[1:], kind) {
		body = &node{at: root.at} // PipeCD's smallest files have no spec, or one without keys.
	}
	if body == nil {
		d.missing(position{1, 1}, "spec", []string{"spec"}, "is required")
		return
	}
	if body.kind == nullNode {
		body = &node{kind: mappingNode, at: body.at}
	}
	d.raw["spec"] = body
	d.decode(body, spec, "spec")
	one.check(d, kind)
}

// tree parses the bytes; nil means that the errors say why there is nothing to decode.
func (d *decoder) tree(data []byte) *node {
	if len(data) > MaxSize {
		d.errorf(position{}, "", "the file is larger than %d KiB; a configuration is never that large", MaxSize>>10)
		return nil
	}
	if bytes.Count(data, []byte{'\n'})+bytes.Count(data, []byte{','}) > maxEntries {
		d.errorf(position{}, "", "the file has more than %d lines and commas; a configuration is never that long",
			maxEntries)
		return nil
	}
	if nesting(data) > maxNesting {
		d.errorf(position{}, "", "brackets or dashes nested more than %d deep", maxNesting)
		return nil
	}
	data, ok := d.text8(data)
	if !ok {
		return nil
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			at, message := place(syntax.GetToken()), syntax.GetMessage()
			if strings.Contains(message, "tab character") || strings.Contains(message, "'\t' that") {
				at.column, message = 1, "a line begins with a tab: want blanks, which are the only indentation of YAML"
			}
			d.errorf(at, "", "not valid YAML: %s", message)
		} else {
			d.errorf(position{1, 1}, "", "not valid YAML: %s", err)
		}
		return nil
	}
	r := &resolver{anchors: map[string]*anchor{},
		report: func(at position, message string) { d.errorf(at, "", "%s", message) }}
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
	if r.values > maxValues {
		return nil // What is left of the file would only look wrong.
	}
	wanted := cmp.Or(d.wanted, `want a configuration, which starts with "apiVersion: `+APIVersion+`"`)
	switch {
	case root == nil:
		d.errorf(position{1, 1}, "", "the file is empty; %s", wanted)
		return nil
	case root.kind != mappingNode:
		d.errorf(position{1, 1}, "", "the file holds no keys, but %s; %s", root.describe(), wanted)
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
	if version := root.child("apiVersion"); version == nil || version.kind == nullNode {
		d.missing(position{1, 1}, "apiVersion", []string{"apiVersion"}, "is required: want %s", APIVersion)
	} else if version.kind != stringNode || version.text != APIVersion {
		d.errorf(version.at, "apiVersion", "%s is not allowed here: want %s", version.describe(), APIVersion)
	}
	// Those of PipeCD v0 are read, and not recommended.
	wanted := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool {
		return kind != KindApplication && slices.Contains(applicationKinds, kind)
	})
	kind := root.child("kind")
	switch {
	case kind == nil || kind.kind == nullNode:
		d.missing(position{1, 1}, "kind", []string{"kind"}, "is required: want %s", strings.Join(wanted, " or "))
	case kind.kind != stringNode || !slices.Contains(kinds, kind.text):
		message := kind.describe() + " is not allowed here: want " + strings.Join(wanted, " or ")
		if near := spelling.Nearest(kind.text, wanted); near != "" {
			message += fmt.Sprintf("; did you mean %q?", near)
		}
		d.errorf(kind.at, "kind", "%s", message)
	default:
		return kind.text
	}
	return ""
}

func (d *decoder) sorted(list Errors) Errors {
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	hidden := 0
	list = slices.DeleteFunc(list, func(e *Error) bool {
		hidden += e.hidden
		return e.hidden > 0
	})
	if left := len(list) - maxErrors; left > 0 {
		hidden += left
		list = list[:maxErrors:maxErrors]
	}
	if hidden > 0 {
		message := fmt.Sprintf("%d more mistakes are not shown", hidden)
		if d.overflow {
			message = "many more mistakes are not shown"
		}
		list = append(list, &Error{File: d.file, Message: message, hidden: hidden})
	}
	return list
}

// text8 returns the file without the mark that some editors begin UTF-8 files with. Anything but UTF-8 is refused:
// it could neither be shown nor sent to the control plane.
func (d *decoder) text8(data []byte) ([]byte, bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		d.errorf(position{1, 1}, "", "the file is UTF-16 text; save it as UTF-8")
		return nil, false
	case utf8.Valid(data) && !bytes.ContainsRune(data, 0):
		return data, true
	}
	for i, line := range bytes.Split(data, []byte{'\n'}) {
		column := 1
		for len(line) > 0 {
			r, size := utf8.DecodeRune(line)
			switch {
			case r == utf8.RuneError && size == 1:
				d.errorf(position{i + 1, column}, "", "the byte 0x%02x is not UTF-8 text; save the file as UTF-8",
					line[0])
				return nil, false
			case r == 0:
				d.errorf(position{i + 1, column}, "", "holds the NUL character, which no text has")
				return nil, false
			}
			line, column = line[size:], column+1
		}
	}
	return nil, false
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
