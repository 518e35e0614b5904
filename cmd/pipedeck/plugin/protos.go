// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

func newProtosCommand() *cobra.Command {
	return &cobra.Command{
		Use: "protos FILE", Short: "Write the plugin protocol for other languages than Go", Args: cobra.ExactArgs(1),
		Long: `Write the messages and services between piped and its plugins to FILE, with all that they import:
a FileDescriptorSet, which protoc takes with --descriptor_set_in and gRPC libraries of several
languages load as it is.`,
		Example: "  pipedeck plugin protos plugin.pb",
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := proto.Marshal(pluginProtocol())
			if err != nil {
				return err
			}
			if err := os.WriteFile(args[0], data, 0o644); err != nil {
				return fmt.Errorf("write the plugin protocol: %w", err)
			}
			return nil
		},
	}
}

// pluginProtocol holds each file after those that it imports.
func pluginProtocol() *descriptorpb.FileDescriptorSet {
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
	for _, file := range []protoreflect.FileDescriptor{
		(&deployment.ExecuteStageRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&livestate.GetLivestateRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&planpreview.GetPlanPreviewRequest{}).ProtoReflect().Descriptor().ParentFile(),
		(&pluginservice.ReportStageLogsRequest{}).ProtoReflect().Descriptor().ParentFile(),
	} {
		add(file)
	}
	return set
}
