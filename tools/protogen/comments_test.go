// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A compiler that sees nothing else makes of the .proto files that authors get the descriptors that they get.
func TestThePluginProtocolCompilesToItsDescriptors(t *testing.T) {
	dir := t.TempDir()
	written := filepath.Join(dir, "plugin.pb")
	for _, args := range [][]string{{written}, {"--format", "proto", dir}} {
		args = append([]string{"run", "./cmd/pipedeck-more", "plugin", "protos"}, args...)
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = "../..", slices.DeleteFunc(os.Environ(), func(variable string) bool {
			return strings.HasPrefix(variable, "GOWORK=")
		})
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	data, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(data, set); err != nil {
		t.Fatal(err)
	}
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{dir}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	commented := 0
	for _, want := range set.GetFile() {
		files, err := compiler.Compile(t.Context(), want.GetName())
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := proto.Marshal(protoutil.ProtoFromFileDescriptor(files[0]))
		if err != nil {
			t.Fatal(err)
		}
		got := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(compiled, got); err != nil {
			t.Fatal(err)
		}
		for _, location := range want.GetSourceCodeInfo().GetLocation() {
			if location.GetLeadingComments() != "" {
				commented++
			}
		}
		if want.GetSourceCodeInfo() == nil { // a file of others
			got.SourceCodeInfo = nil
		}
		withoutJSONNames(want)
		withoutJSONNames(got)
		if !proto.Equal(want, got) {
			t.Errorf("%s compiles to another descriptor:\n%v\ninstead of\n%v", want.GetName(), got, want)
		}
	}
	if commented == 0 {
		t.Error("the descriptors have no comments")
	}
}

// withoutJSONNames removes what compilers fill in.
func withoutJSONNames(file *descriptorpb.FileDescriptorProto) {
	fields := slices.Clone(file.GetExtension())
	messages := slices.Clone(file.GetMessageType())
	for len(messages) > 0 {
		next := messages[0]
		messages = append(messages[1:], next.GetNestedType()...)
		fields = append(append(fields, next.GetField()...), next.GetExtension()...)
	}
	for _, field := range fields {
		field.JsonName = nil
	}
}
