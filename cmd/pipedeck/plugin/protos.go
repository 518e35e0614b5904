// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/protocol"
	"github.com/pipedeck/pipedeck/tui/document"
)

func newProtosCommand() *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "protos FILE", Short: "Write the plugin protocol for other languages than Go", Args: cobra.ExactArgs(1),
		Long: `Write the messages and services between piped and its plugins to FILE, with all that they import:
a FileDescriptorSet, which protoc takes with --descriptor_set_in and gRPC libraries of several
languages load as it is.`,
		Example: "  pipedeck plugin protos plugin.pb",
		RunE: func(cmd *cobra.Command, args []string) error {
			set := protocol.Files()
			data, err := proto.Marshal(set)
			if err != nil {
				return err
			}
			if err := os.WriteFile(args[0], data, 0o644); err != nil {
				return fmt.Errorf("write the plugin protocol: %w", err)
			}
			if !output.Machine() {
				return nil
			}
			return output.Document(cmd.OutOrStdout(), writtenProtocol(args[0], set))
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

// writtenProtocol names what is in a file with the protocol.
func writtenProtocol(file string, set *descriptorpb.FileDescriptorSet) document.WrittenProtocol {
	written := document.WrittenProtocol{Head: document.NewHead(), File: file, Protos: []string{},
		Services: []document.ProtocolService{}}
	for _, of := range set.GetFile() {
		written.Protos = append(written.Protos, of.GetName())
		for _, service := range of.GetService() {
			one := document.ProtocolService{Name: of.GetPackage() + "." + service.GetName(), Methods: []string{}}
			for _, method := range service.GetMethod() {
				one.Methods = append(one.Methods, method.GetName())
			}
			written.Services = append(written.Services, one)
		}
	}
	return written
}
