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
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/document"
)

// What a new plugin does is tested in e2e/guide.
func TestANewPluginIsNamedThroughout(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "here")
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "new", "smoke-test", dir, "--module",
		"corp.example/smoke", "--sdk", "../../..")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "pipedeck up . --cluster none --plugin smoke-test=.")
	for name, text := range map[string]string{
		"go.mod":                  "module corp.example/smoke\n",
		"stage.go":                `const stageName = "SMOKE_TEST"`,
		".gitignore":              "/smoke-test\n",
		"README.md":               "# smoke-test\n",
		"piped-plugin.yaml":       "prefix: \"> \"\n",
		"example/app.pipecd.yaml": "- name: SMOKE_TEST\n",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(data), text)
	}
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout,
		`no plugin of PipeCD has the stage "SMOKE_TEST"; if a plugin of yours has it, `+
			`name its program: pipedeck validate --plugin NAME=PATH`)
	require.Contains(t, stdout, "1 error, 0 warnings")
	program := clitest.PrintingPlugin(t, filepath.Join(dir, "schema.json"))
	code, stdout, stderr = command(t.Context(), t.TempDir(), "validate", dir, "--plugin", "smoke-test="+program)
	require.Zero(t, code, stdout+stderr)

	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "new", "other", filepath.Join(dir, "other"),
		"--sdk", "../../..", "-o", "json")
	require.Zero(t, code, stderr)
	var written document.NewPluginSources
	clitest.Document(t, "plugin-new", stdout, &written)
	require.Equal(t, "OTHER", written.Stage)

	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "new", "smoke-test", dir, "--sdk", "../../..")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "is not empty\nnext step: give another directory")
}

func TestWhatIsWrongWithANewPluginIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a name that is no name":   {[]string{"Greeter"}, `"Greeter" is no name for a plugin`},
		"a name out of the folder": {[]string{"../greeter"}, "is no name for a plugin"},
		"a module that cannot be":  {[]string{"greeter", "--module", "a b"}, "give a module path"},
		"an SDK that is not there": {[]string{"greeter", "--sdk", t.TempDir()}, "is not a clone of pipedeck"},
		"an unknown SDK":           {[]string{"greeter"}, "--sdk DIR"},
		"no name":                  {nil, "takes between 1 and 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			args := append([]string{"plugin", "new"}, c.args...)
			if len(c.args) > 0 {
				args = append(args, dir)
			}
			code, _, stderr := command(t.Context(), t.TempDir(), args...)
			require.Equal(t, exit.WrongUsage, code)
			require.Contains(t, stderr, c.says)
			require.NoDirExists(t, dir)
		})
	}
}

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
		_, err := files.FindDescriptorByName(protoreflect.FullName(service))
		require.NoError(t, err)
	}
}
