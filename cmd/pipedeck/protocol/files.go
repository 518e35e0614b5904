// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/api/plugin/schema"
)

// comments has the name and the source info of each file of ours, as a FileDescriptorSet. tools/protogen writes it.
//
//go:embed comments.binpb
var comments []byte

// Files returns the messages and services between piped and its plugins, with the comments of ours. Each file comes
// after those that it imports.
func Files() (*descriptorpb.FileDescriptorSet, error) {
	set := filesOf(
		(&deployment.ExecuteStageRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&deployment.GetSourceUseRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&livestate.GetLivestateRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&livestate.GetDriftRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&livestate.AwaitChangesRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&planpreview.GetPlanPreviewRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&schema.GetSchemaRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&pluginservice.ReportStageLogsRequest{}).ProtoReflect().Descriptor().ParentFile(),
		grpc_health_v1.File_grpc_health_v1_health_proto,
	)
	commented := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(comments, commented); err != nil {
		return nil, fmt.Errorf("read the comments of the plugin protocol: %w", err)
	}
	info := map[string]*descriptorpb.SourceCodeInfo{}
	for _, file := range commented.GetFile() {
		info[file.GetName()] = file.GetSourceCodeInfo()
	}
	for _, file := range set.GetFile() {
		file.SourceCodeInfo = info[file.GetName()]
	}
	return set, nil
}

// filesOf returns files with all that they import.
func filesOf(files ...protoreflect.FileDescriptor) *descriptorpb.FileDescriptorSet {
	set := &descriptorpb.FileDescriptorSet{}
	known := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if known[file.Path()] {
			return
		}
		known[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	for _, file := range files {
		add(file)
	}
	return set
}

// Text returns what a plugin with stages alone needs of the protocol, with those for its schema and its health, as JSON
// of a FileDescriptorSet; for one that deploys, also what live state and plan previews need. It leaves the rules of
// validation out, which the plugin does not check. The same program returns the same bytes.
func Text(deploys bool) ([]byte, error) {
	files := []protoreflect.FileDescriptor{
		(&deployment.ExecuteStageRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&pluginservice.ReportStageLogsRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&schema.GetSchemaRequest{}).ProtoReflect().Descriptor().ParentFile(),
		grpc_health_v1.File_grpc_health_v1_health_proto,
	}
	if deploys {
		files = append(files, (&livestate.GetLivestateRequest{}).ProtoReflect().Descriptor().ParentFile(),
			(&planpreview.GetPlanPreviewRequest{}).ProtoReflect().Descriptor().ParentFile())
	}
	set := filesOf(files...)
	lean := &descriptorpb.FileDescriptorSet{}
	for _, file := range set.GetFile() {
		if file.GetPackage() == "validate" {
			continue
		}
		file = proto.CloneOf(file)
		withoutRules(file)
		lean.File = append(lean.File, file)
	}
	text, err := protojson.Marshal(lean)
	if err != nil {
		return nil, err
	}
	// Its blanks differ from program to program, on purpose.
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", " "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// withoutRules removes the rules of validation and the import that they need.
func withoutRules(file *descriptorpb.FileDescriptorProto) {
	imported := file.GetDependency()
	file.Dependency, file.PublicDependency, file.WeakDependency = nil, nil, nil
	for _, path := range imported {
		if path != "validate/validate.proto" {
			file.Dependency = append(file.Dependency, path)
		}
	}
	var strip func([]*descriptorpb.DescriptorProto)
	strip = func(messages []*descriptorpb.DescriptorProto) {
		for _, message := range messages {
			for _, field := range message.GetField() {
				field.Options = nil
			}
			for _, oneof := range message.GetOneofDecl() {
				oneof.Options = nil
			}
			strip(message.GetNestedType())
		}
	}
	strip(file.GetMessageType())
}
