// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
)

// A newer piped may report what no one here knows to inspect.
func TestFieldsThatAreNotKnownAreNotRecorded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	require.NoError(t, os.WriteFile(file, nil, 0o644)) // someone has made it
	writer, err := recording.NewWriter(recording.WriterOptions{File: file, Plugin: "p", Mask: strings.ToLower})
	require.NoError(t, err)
	newer := protowire.AppendTag(nil, 1000, protowire.BytesType)
	newer = protowire.AppendString(newer, "hunter2")
	inner := protowire.AppendTag(nil, 1, protowire.BytesType) // the input
	inner = protowire.AppendBytes(inner, newer)
	writer.Write(true, recording.Call{
		Method: "/" + deployment.DeploymentService_ServiceDesc.ServiceName + "/ExecuteStage", Code: "OK",
		Request: append(inner, newer...), Response: newer,
	})
	require.NoError(t, writer.Close())
	call := read(t, file).Calls[0]
	require.NotContains(t, string(call.Request), "hunter2")
	require.NotContains(t, string(call.Response), "hunter2")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
