// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// commentsFile is where the program has what generated Go code leaves out.
const commentsFile = "cmd/pipedeck/protocol/comments.binpb"

// comments returns a FileDescriptorSet with the name and the source info of the files that plugins need.
func comments(request *pluginpb.CodeGeneratorRequest) (string, error) {
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range request.GetProtoFile() {
		if name := file.GetName(); strings.HasPrefix(name, "api/plugin/") || strings.HasPrefix(name, "api/model/") {
			set.File = append(set.File, &descriptorpb.FileDescriptorProto{
				Name: file.Name, SourceCodeInfo: file.GetSourceCodeInfo(),
			})
		}
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	return string(data), err
}
