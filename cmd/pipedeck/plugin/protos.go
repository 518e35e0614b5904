// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/protocol"
	"github.com/pipedeck/pipedeck/tui/document"
)

// The forms in which the protocol is written.
const (
	formDescriptor = "descriptor"
	formProto      = "proto"
)

func newProtosCommand() *cobra.Command {
	var output format.Output
	form := formDescriptor
	cmd := &cobra.Command{
		Use: "protos PATH", Short: "Write the plugin protocol for other languages than Go", Args: cobra.ExactArgs(1),
		Long: `Write the messages and services between piped and its plugins to PATH, with all that they import and with
their comments.

The formats are:
  descriptor   the file PATH with a FileDescriptorSet, which protoc takes with --descriptor_set_in and gRPC
               libraries of several languages load as it is
  proto        .proto files in the directory PATH, for protoc -I PATH, buf and other generators of code`,
		Example: `  pipedeck plugin protos plugin.pb
  pipedeck plugin protos --format proto protos`,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := protocol.Files()
			if err != nil {
				return err
			}
			switch form {
			case formDescriptor:
				err = writeDescriptors(args[0], set)
			case formProto:
				err = writeProtos(args[0])
			default:
				err = exit.Usage(fmt.Errorf("there is no format %q", form),
					"give --format descriptor or --format proto")
			}
			if err != nil || !output.Machine() {
				return err
			}
			return output.Document(cmd.OutOrStdout(), writtenProtocol(args[0], set))
		},
	}
	cmd.Flags().StringVar(&form, "format", form, "form of the protocol: descriptor, proto")
	format.AddFlag(cmd, &output)
	return cmd
}

func writeDescriptors(path string, set *descriptorpb.FileDescriptorSet) error {
	data, err := proto.Marshal(set)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write the plugin protocol: %w", err)
	}
	return nil
}

// writeProtos replaces files of the names of the protocol, and leaves others alone.
func writeProtos(dir string) error {
	tree, err := protocol.Tree()
	if err != nil {
		return err
	}
	for name, text := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("create a directory for the plugin protocol: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the plugin protocol: %w", err)
		}
	}
	return nil
}

// writtenProtocol names what was written.
func writtenProtocol(path string, set *descriptorpb.FileDescriptorSet) document.WrittenProtocol {
	written := document.WrittenProtocol{Head: document.NewHead(), File: path, Protos: []string{},
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
