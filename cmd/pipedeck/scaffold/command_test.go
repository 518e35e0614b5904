// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scaffold_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/scaffold"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

// command runs a command line in a program with this archive.
func command(ctx context.Context, archive scaffold.Archive, args ...string) (code int, stdout, stderr string) {
	return clitest.Run(ctx, func(t *session.Target) []*cobra.Command {
		plugin := &cobra.Command{Use: "plugin"}
		plugin.AddCommand(scaffold.NewCommand(archive))
		return append(configuration.Commands(t), plugin)
	}, os.DevNull, args...)
}

// sdkSources is an archive with the go.mod that tools/sdkarchive writes, and a file that two directories have.
func sdkSources(t *testing.T, more ...*tar.Header) scaffold.Archive {
	t.Helper()
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	add := func(name, content string) {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644}))
		_, err := archive.Write([]byte(content))
		require.NoError(t, err)
	}
	add("go.mod", "module example.com/plugin\n\ngo 1.26.8\n\nreplace example.org/sdk => ./third_party/sdk\n")
	add("third_party/sdk/sdk.go", "package sdk\n")
	require.NoError(t, archive.WriteHeader(&tar.Header{Typeflag: tar.TypeLink, Name: "vendor/example.org/sdk/sdk.go",
		Linkname: "third_party/sdk/sdk.go"}))
	for _, header := range more {
		require.NoError(t, archive.WriteHeader(header))
	}
	require.NoError(t, archive.Close())
	require.NoError(t, compressed.Close())
	return func() ([]byte, error) { return packed.Bytes(), nil }
}

// holding is an archive with this content, or one that cannot be read.
func holding(content string, err error) scaffold.Archive {
	return func() ([]byte, error) { return []byte(content), err }
}

// What a new plugin does is tested in e2e.
func TestANewPluginIsNamedThroughout(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "here")
	code, stdout, stderr := command(t.Context(), sdkSources(t), "plugin", "new", "smoke-test", dir, "--module",
		"corp.example/smoke")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "\n  go test ./...\n", "no modules are missing")
	require.Contains(t, stdout, "pipedeck up . --cluster none --plugin smoke-test=.")
	for name, text := range map[string]string{
		"go.mod":                        "module corp.example/smoke\n\ngo 1.26.8\n\nreplace example.org/sdk => ./",
		"third_party/sdk/sdk.go":        "package sdk\n",
		"vendor/example.org/sdk/sdk.go": "package sdk\n",
		"stage.go":                      `const stageName = "SMOKE_TEST"`,
		".gitignore":                    "/smoke-test_*\n",
		".vscode/launch.json":           `"args": ["reattach", "-name", "smoke-test"]`,
		".github/workflows/plugin.yaml": "- run: make\n",
		"Makefile":                      "--plugin smoke-test=.",
		"README.md":                     "# smoke-test\n",
		"piped-plugin.yaml":             "prefix: \"> \"\n",
		"example/app.pipecd.yaml":       "- name: SMOKE_TEST\n",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(data), text)
	}
	code, stdout, _ = command(t.Context(), nil, "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout,
		`no plugin of PipeCD has the stage "SMOKE_TEST"; if a plugin of yours has it, `+
			`name its program: pipedeck validate --plugin NAME=PATH`)
	require.Contains(t, stdout, "1 error, 0 warnings")
	program := clitest.PrintingPlugin(t, filepath.Join(dir, "schema.json"))
	code, stdout, stderr = command(t.Context(), nil, "validate", dir, "--plugin", "smoke-test="+program)
	require.Zero(t, code, stdout+stderr)

	code, _, stderr = command(t.Context(), sdkSources(t), "plugin", "new", "smoke-test", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "is not empty\nnext step: give another directory")
}

func TestThePluginsThatAreKnownKeepTheirNamesAndStages(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"kubernetes": "kubernetes is the name of a plugin of PipeCD\nnext step: give another name, such as " +
			"my-kubernetes; to have it replace that plugin, run: pipedeck up ",
		"kubernetes_multicluster": "is the name of a plugin of PipeCD",
		"wait":                    "is the name of a plugin of PipeCD",
		"scriptrun":               "is the name of a plugin of PipeCD",
		"terraform":               "is the name of a plugin of PipeCD",
		"script-run": "a plugin script-run would have the stage SCRIPT_RUN, which the plugin scriptrun has\n" +
			"next step: give another name, such as my-script-run",
	} {
		for _, language := range []string{"go", "python", "node"} {
			dir := filepath.Join(t.TempDir(), "here")
			code, _, stderr := command(t.Context(), sdkSources(t), "plugin", "new", name, dir, "--lang", language)
			require.Equal(t, exit.WrongUsage, code, name)
			require.Contains(t, stderr, says)
			require.NoDirExists(t, dir)
		}
	}
}

func TestEachKindIsCheckedForTheStagesThatItHas(t *testing.T) {
	t.Parallel()
	const deploys = "a plugin k8s would have the stage K8S_SYNC, which the plugin kubernetes has\n" +
		"next step: give another name, such as my-k8s"
	const runs = "a plugin script-run would have the stage SCRIPT_RUN, which the plugin scriptrun has"
	for kind, refused := range map[string]map[string]string{
		"stage":       {"k8s": "", "script-run": runs},
		"deployment":  {"k8s": deploys, "script-run": ""},
		"livestate":   {"k8s": deploys, "script-run": ""}, // it deploys, too
		"planpreview": {"k8s": deploys, "script-run": ""},
	} {
		for name, says := range refused {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "here")
				code, _, stderr := command(t.Context(), sdkSources(t), "plugin", "new", name, dir, "--kind", kind)
				if says == "" {
					require.Zero(t, code, stderr)
					return
				}
				require.Equal(t, exit.WrongUsage, code)
				require.Contains(t, stderr, says)
				require.NoDirExists(t, dir)
			})
		}
	}
}

func TestEachKindIsWholeAndNamesNoPlaceOfThisMachine(t *testing.T) {
	t.Parallel()
	for kind, has := range map[string]string{
		"stage": "stage.go", "deployment": "deploy.go", "livestate": "live.go", "planpreview": "preview.go",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			code, stdout, stderr := command(t.Context(), sdkSources(t), "plugin", "new", "other", dir, "--kind", kind,
				"-o", "json")
			require.Zero(t, code, stderr)
			var written document.NewPluginSources
			clitest.Document(t, "plugin-new", stdout, &written)
			require.Equal(t, "OTHER", written.Stage)
			require.Equal(t, kind, written.Kind)
			require.FileExists(t, filepath.Join(dir, has))
			require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				require.NotContains(t, string(data), dir, path)
				require.NotContains(t, string(data), "«", path)
				return err
			}))
			program := clitest.PrintingPlugin(t, filepath.Join(dir, "schema.json"))
			code, stdout, stderr = command(t.Context(), nil, "validate", dir, "--plugin", "other="+program)
			require.Zero(t, code, stdout+stderr)
		})
	}
}

func TestPluginsInOtherLanguagesHaveTheProtocolAsText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, kind, work, service string }{
		{"python", "stage", "main.py", "pipedeck.plugin.schema.v1.SchemaService"},
		{"python", "deployment", "deploy.py", "grpc.plugin.deploymentapi.v1alpha1.DeploymentService"},
		{"python", "livestate", "deploy.py", "grpc.plugin.livestateapi.v1alpha1.LivestateService"},
		{"python", "planpreview", "deploy.py", "grpc.plugin.planpreviewapi.v1alpha1.PlanPreviewService"},
		{"node", "stage", "stage.js", "pipedeck.plugin.schema.v1.SchemaService"},
		{"node", "deployment", "deploy.js", "grpc.plugin.deploymentapi.v1alpha1.DeploymentService"},
		{"node", "livestate", "deploy.js", "grpc.plugin.livestateapi.v1alpha1.LivestateService"},
		{"node", "planpreview", "deploy.js", "grpc.plugin.planpreviewapi.v1alpha1.PlanPreviewService"},
	} {
		t.Run(c.language+" "+c.kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			code, stdout, stderr := command(t.Context(), nil, "plugin", "new", "other", dir,
				"--lang", c.language, "--kind", c.kind)
			require.Zero(t, code, stderr)
			require.Contains(t, stdout, "Then change "+c.work+" and save it.")
			work, err := os.ReadFile(filepath.Join(dir, c.work))
			require.NoError(t, err)
			says := "with the stages OTHER_SYNC and OTHER_ROLLBACK to "
			stages := []string{"OTHER_SYNC", "OTHER_ROLLBACK"}
			if c.kind == "stage" {
				says, stages = "with the stage OTHER to ", []string{"OTHER"}
			}
			require.Contains(t, stdout, says)
			for _, stage := range stages {
				require.Contains(t, string(work), `"`+stage+`"`)
			}
			requireProtocol(t, dir, protoreflect.FullName(c.service))
			program := clitest.PrintingPlugin(t, filepath.Join(dir, "schema.json"))
			code, stdout, stderr = command(t.Context(), nil, "validate", dir, "--plugin", "other="+program)
			require.Zero(t, code, stdout+stderr)
		})
	}
}

// requireProtocol fails the test when a plugin would not find what it needs of the protocol.
func requireProtocol(t *testing.T, dir string, also protoreflect.FullName) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "protocol.json"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "validate")
	set := &descriptorpb.FileDescriptorSet{}
	require.NoError(t, protojson.Unmarshal(text, set))
	files, err := protodesc.NewFiles(set)
	require.NoError(t, err, "all that is imported is there")
	for _, service := range []protoreflect.FullName{
		"grpc.plugin.deploymentapi.v1alpha1.DeploymentService", "grpc.piped.service.PluginService",
		"grpc.health.v1.Health", "pipedeck.plugin.schema.v1.SchemaService", also,
	} {
		_, err := files.FindDescriptorByName(service)
		require.NoError(t, err)
	}
}

func TestThePluginOfPeopleWhoWorkOnTheSDKUsesTheirClone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	code, stdout, stderr := command(t.Context(), nil, "plugin", "new", "other", dir, "--sdk", "../../..")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "go mod tidy && go test ./...")
	clone, err := filepath.Abs("../../..")
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(data), filepath.Join(clone, "plugins", "sdk")+"\n")
	require.Contains(t, string(data), filepath.Join(clone, "api")+"\n")
}

func TestWhatIsWrongWithANewPluginIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    []string
		archive scaffold.Archive
		code    int
		says    string
	}{
		"a name that is no name":   {[]string{"Greeter"}, nil, exit.WrongUsage, `"Greeter" is no name for a plugin`},
		"a name out of the folder": {[]string{"../greeter"}, nil, exit.WrongUsage, "is no name for a plugin"},
		"a module that cannot be": {[]string{"greeter", "--module", "a b"}, nil, exit.WrongUsage,
			"give a module path"},
		"an unknown kind": {[]string{"greeter", "--kind", "stages"}, nil, exit.WrongUsage,
			"next step: give --kind with one of stage, deployment, livestate, planpreview"},
		"an unknown language": {[]string{"greeter", "--lang", "cobol"}, nil, exit.WrongUsage,
			"give --lang go or python or node"},
		"a module in Python": {[]string{"greeter", "--lang", "python", "--module", "a.example/b"}, nil,
			exit.WrongUsage, "--module and --sdk are for plugins in Go"},
		"an SDK that is not there": {[]string{"greeter", "--sdk", t.TempDir()}, nil, exit.WrongUsage,
			"is not a clone of pipedeck"},
		"a program without an SDK": {[]string{"greeter"}, holding("", nil), exit.WrongUsage,
			"this pipedeck was built without the sources of the SDK\nnext step: build it with: make build; or give"},
		"an archive that is none": {[]string{"greeter"}, holding("x", nil), exit.Failed,
			"unpack the sources of the SDK: "},
		"an archive that cannot be read": {[]string{"greeter"}, holding("", errors.New("gone")), exit.Failed,
			"read the sources of the SDK: gone"},
		"an archive with a device": {[]string{"greeter"},
			sdkSources(t, &tar.Header{Name: "dev", Typeflag: tar.TypeChar}), exit.Failed,
			"dev is neither a file nor a link"},
		"an archive with a link to a place": {[]string{"greeter"}, sdkSources(t,
			&tar.Header{Name: "link", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), exit.Failed,
			"link is neither a file nor a link"},
		"an archive with a file somewhere else": {[]string{"greeter"}, sdkSources(t, &tar.Header{Name: "../out"}),
			exit.Failed, "../out is outside of the plugin"},
		"no name": {nil, nil, exit.WrongUsage, "takes between 1 and 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			args := append([]string{"plugin", "new"}, c.args...)
			if len(c.args) > 0 {
				args = append(args, dir)
			}
			code, _, stderr := command(t.Context(), c.archive, args...)
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
			require.NoDirExists(t, dir)
		})
	}
}
