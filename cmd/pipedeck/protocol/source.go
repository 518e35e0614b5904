// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
)

// source writes a .proto file that compiles to the same descriptor, comments and json names aside. It does not know
// groups.
func source(file *descriptorpb.FileDescriptorProto) (string, error) {
	p := &printer{proto3: file.GetSyntax() == "proto3"}
	p.line("// Written by pipedeck from the descriptor of %s.", file.GetName())
	syntax := file.GetSyntax()
	if syntax == "" {
		syntax = "proto2"
	}
	p.line("syntax = %q;", syntax)
	p.line("package %s;", file.GetPackage())
	public := map[int32]bool{}
	for _, index := range file.GetPublicDependency() {
		public[index] = true
	}
	for i, name := range file.GetDependency() {
		word := ""
		if public[int32(i)] {
			word = "public "
		}
		p.line("import %s%q;", word, name)
	}
	for _, option := range p.options(file.GetOptions()) {
		p.line("option %s;", option)
	}
	for _, enum := range file.GetEnumType() {
		p.enum(enum)
	}
	for _, message := range file.GetMessageType() {
		p.message(message)
	}
	p.extensions(file.GetExtension())
	for _, service := range file.GetService() {
		p.service(service)
	}
	return p.text.String(), p.err
}

// printer writes the lines of a .proto file. It keeps the first error.
type printer struct {
	text   strings.Builder
	depth  int
	proto3 bool
	err    error
}

func (p *printer) line(format string, args ...any) {
	p.text.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(&p.text, format, args...)
	p.text.WriteByte('\n')
}

// block writes what is between braces.
func (p *printer) block(head string, body func()) {
	p.line("%s {", head)
	p.depth++
	body()
	p.depth--
	p.line("}")
}

func (p *printer) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *printer) message(m *descriptorpb.DescriptorProto) {
	p.block("message "+m.GetName(), func() {
		for _, option := range p.options(m.GetOptions()) {
			p.line("option %s;", option)
		}
		for _, enum := range m.GetEnumType() {
			p.enum(enum)
		}
		for _, nested := range m.GetNestedType() {
			if !nested.GetOptions().GetMapEntry() {
				p.message(nested)
			}
		}
		p.fields(m)
		p.extensions(m.GetExtension())
		for _, r := range m.GetExtensionRange() {
			p.line("extensions %s%s;", bounds(r.GetStart(), r.GetEnd()-1), brackets(p.options(r.GetOptions())))
		}
		for _, r := range m.GetReservedRange() {
			p.line("reserved %s;", bounds(r.GetStart(), r.GetEnd()-1))
		}
		p.reservedNames(m.GetReservedName())
	})
}

// fields writes the fields of a message in their order, those of a oneof at the place of its first one.
func (p *printer) fields(m *descriptorpb.DescriptorProto) {
	maps := map[string]*descriptorpb.DescriptorProto{}
	for _, nested := range m.GetNestedType() {
		if nested.GetOptions().GetMapEntry() {
			maps["."+nested.GetName()] = nested
		}
	}
	written := map[int32]bool{}
	for _, field := range m.GetField() {
		if entry := maps[field.GetTypeName()[max(0, strings.LastIndexByte(field.GetTypeName(), '.')):]]; entry != nil {
			p.field(field, fmt.Sprintf("map<%s, %s>", kindOf(entry.GetField()[0]), kindOf(entry.GetField()[1])))
			continue
		}
		if field.OneofIndex == nil || field.GetProto3Optional() {
			p.field(field, p.label(field)+kindOf(field))
			continue
		}
		index := field.GetOneofIndex()
		if written[index] {
			continue
		}
		written[index] = true
		oneof := m.GetOneofDecl()[index]
		p.block("oneof "+oneof.GetName(), func() {
			for _, option := range p.options(oneof.GetOptions()) {
				p.line("option %s;", option)
			}
			for _, member := range m.GetField() {
				if member.OneofIndex != nil && member.GetOneofIndex() == index {
					p.field(member, kindOf(member))
				}
			}
		})
	}
}

func (p *printer) label(f *descriptorpb.FieldDescriptorProto) string {
	switch {
	case f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED:
		return "repeated "
	case f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED:
		return "required "
	case p.proto3 && !f.GetProto3Optional():
		return ""
	}
	return "optional "
}

// kindOf is the type of a field in the language of .proto files.
func kindOf(f *descriptorpb.FieldDescriptorProto) string {
	if name := f.GetTypeName(); name != "" {
		return name
	}
	return strings.ToLower(strings.TrimPrefix(f.GetType().String(), "TYPE_"))
}

// field writes a field; kind is its type with what stands in front of it.
func (p *printer) field(f *descriptorpb.FieldDescriptorProto, kind string) {
	options := p.options(f.GetOptions())
	if f.DefaultValue != nil {
		value := f.GetDefaultValue()
		if f.GetType() == descriptorpb.FieldDescriptorProto_TYPE_STRING {
			value = strconv.Quote(value)
		}
		options = append([]string{"default = " + value}, options...)
	}
	if f.GetType() == descriptorpb.FieldDescriptorProto_TYPE_GROUP {
		p.fail("the field %s is a group", f.GetName())
	}
	p.line("%s %s = %d%s;", kind, f.GetName(), f.GetNumber(), brackets(options))
}

// extensions writes the fields that other messages get.
func (p *printer) extensions(fields []*descriptorpb.FieldDescriptorProto) {
	for _, field := range fields {
		p.block("extend "+field.GetExtendee(), func() { p.field(field, p.label(field)+kindOf(field)) })
	}
}

func (p *printer) enum(e *descriptorpb.EnumDescriptorProto) {
	p.block("enum "+e.GetName(), func() {
		for _, option := range p.options(e.GetOptions()) {
			p.line("option %s;", option)
		}
		for _, value := range e.GetValue() {
			p.line("%s = %d%s;", value.GetName(), value.GetNumber(), brackets(p.options(value.GetOptions())))
		}
		for _, r := range e.GetReservedRange() { // its end is part of it
			p.line("reserved %s;", bounds(r.GetStart(), r.GetEnd()))
		}
		p.reservedNames(e.GetReservedName())
	})
}

func (p *printer) reservedNames(names []string) {
	for _, name := range names {
		p.line("reserved %q;", name)
	}
}

func (p *printer) service(s *descriptorpb.ServiceDescriptorProto) {
	stream := map[bool]string{true: "stream "}
	p.block("service "+s.GetName(), func() {
		for _, m := range s.GetMethod() {
			p.line("rpc %s(%s%s) returns (%s%s);", m.GetName(), stream[m.GetClientStreaming()], m.GetInputType(),
				stream[m.GetServerStreaming()], m.GetOutputType())
		}
	})
}

// bounds writes a range of numbers.
func bounds(first, last int32) string {
	switch {
	case first == last:
		return strconv.Itoa(int(first))
	case last == math.MaxInt32 || last == 1<<29-1: // of an enum, of a message
		return fmt.Sprintf("%d to max", first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}

// brackets writes options behind what they are about.
func brackets(options []string) string {
	if len(options) == 0 {
		return ""
	}
	return " [" + strings.Join(options, ", ") + "]"
}
