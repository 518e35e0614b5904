// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestThePluginProtocolIsWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plugin.pb")
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "protos", path)
	require.Zero(t, code, stderr)
	require.Empty(t, stdout)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "protos", path, "-o", "json")
	require.Zero(t, code, stderr)
	var written document.WrittenProtocol
	clitest.Document(t, "plugin-protos", stdout, &written)
	require.Equal(t, path, written.File)
	methods := map[string][]string{}
	for _, service := range written.Services {
		methods[service.Name] = service.Methods
	}
	require.Contains(t, methods["grpc.plugin.deploymentapi.v1alpha1.DeploymentService"], "ExecuteStage")
	require.Equal(t, "google/protobuf/descriptor.proto", written.Protos[0], "what is imported comes first")
	for _, service := range []string{"pipedeck.plugin.schema.v1.SchemaService", "grpc.health.v1.Health"} {
		require.Contains(t, methods, service)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	set := &descriptorpb.FileDescriptorSet{}
	require.NoError(t, proto.Unmarshal(data, set))
	files, err := protodesc.NewFiles(set)
	require.NoError(t, err)
	for _, service := range []string{
		"grpc.plugin.deploymentapi.v1alpha1.DeploymentService", "grpc.plugin.livestateapi.v1alpha1.LivestateService",
		"grpc.plugin.planpreviewapi.v1alpha1.PlanPreviewService", "grpc.piped.service.PluginService",
	} {
		found, err := files.FindDescriptorByName(protoreflect.FullName(service))
		require.NoError(t, err)
		comments := found.ParentFile().SourceLocations().ByDescriptor(found).LeadingComments
		require.NotEmpty(t, comments, service)
	}
}

func TestThePluginProtocolIsWrittenAsProtoFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "protos")
	for range 2 { // a newer protocol replaces an older one
		code, _, stderr := command(t.Context(), t.TempDir(), "plugin", "protos", "--format", "proto", dir)
		require.Zero(t, code, stderr)
	}
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "protos", "--format=proto", dir, "-o", "json")
	require.Zero(t, code, stderr)
	var written document.WrittenProtocol
	clitest.Document(t, "plugin-protos", stdout, &written)
	for _, name := range written.Protos {
		require.FileExists(t, filepath.Join(dir, filepath.FromSlash(name)))
	}
	text, err := os.ReadFile(filepath.Join(dir, "api", "plugin", "deployment", "service.proto"))
	require.NoError(t, err)
	require.Contains(t, string(text), "// Runs one stage and answers when it has ended.")
	text, err = os.ReadFile(filepath.Join(dir, "grpc", "health", "v1", "health.proto"))
	require.NoError(t, err)
	require.Contains(t, string(text), "map<string, .grpc.health.v1.HealthCheckResponse> statuses = 1;")

	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "protos", "--format", "thrift", dir)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "next step: give --format descriptor or --format proto")
}
