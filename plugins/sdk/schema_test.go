// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"os"
	"os/exec"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/schema"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

const testSchema = `{"definitions": {"stages": {"properties": {"A": {}}}}}`

func TestAPluginSendsItsSchema(t *testing.T) {
	t.Parallel()
	with := wiretest.Start(t, sdk.ForStages(stagePlugin{}).WithSchema([]byte(testSchema)), wiretest.Options{})
	answer, err := schema.NewSchemaServiceClient(with.Conn).GetSchema(t.Context(), &schema.GetSchemaRequest{})
	require.NoError(t, err)
	require.Equal(t, testSchema, string(answer.GetJsonSchema()))

	without := wiretest.Start(t, sdk.ForStages(stagePlugin{}), wiretest.Options{})
	_, err = schema.NewSchemaServiceClient(without.Conn).GetSchema(t.Context(), &schema.GetSchemaRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
}

func TestAProgramPrintsItsVersion(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"version", "-version", "--version"} {
		cmd := exec.Command(os.Args[0], how)
		cmd.Env = append(os.Environ(), actAsEnv+"=versioned")
		printed, err := cmd.Output()
		require.NoError(t, err)
		require.Equal(t, "v1.2-ours\n", string(printed), how)
	}
}

func TestAProgramPrintsItsSchema(t *testing.T) {
	t.Parallel()
	run := func(kind string) ([]byte, error) {
		cmd := exec.Command(os.Args[0], "schema")
		cmd.Env = append(os.Environ(), actAsEnv+"="+kind)
		return cmd.Output()
	}
	printed, err := run("schema")
	require.NoError(t, err)
	require.Equal(t, testSchema, string(printed))
	printed, err = run("stages")
	exit := new(exec.ExitError)
	require.ErrorAs(t, err, &exit)
	require.Contains(t, string(exit.Stderr), "this plugin was built without a schema of its options")
	require.Empty(t, printed)
}
