// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// recording is one call of piped to a plugin, as it was on the wire between PipeCD's own processes.
type recording struct {
	Method string `json:"method"`
	Code   string `json:"code"`
	// Request and Response are protobuf bytes; there is a response only when Code is OK.
	Request  []byte `json:"req"`
	Response []byte `json:"resp"`
}

// Replay makes the recorded calls of a file (JSON lines) in their order and holds the plugin to the
// recorded codes and answers; ids, times and the message of a stage, which PipeCD never fills, may differ.
// Directories of the recording become dir.
func (h *Harness) Replay(t *testing.T, file, dir string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var r recording
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		t.Run(r.Method[strings.LastIndexByte(r.Method, '/')+1:], func(t *testing.T) { h.replay(t, r, dir) })
	}
	require.NoError(t, lines.Err())
}

func (h *Harness) replay(t *testing.T, r recording, dir string) {
	descriptor := methodOf(t, r.Method)
	request, got, want := newMessage(t, descriptor.Input()), newMessage(t, descriptor.Output()), newMessage(t, descriptor.Output())
	require.NoError(t, proto.Unmarshal(r.Request, request))
	if execute, ok := request.(*deployment.ExecuteStageRequest); ok {
		execute.GetInput().GetTargetDeploymentSource().ApplicationDirectory = dir
	}
	err := h.Conn.Invoke(t.Context(), r.Method, request, got)
	require.Equal(t, r.Code, status.Code(err).String(), "%v", err)
	if err != nil {
		return
	}
	require.NoError(t, proto.Unmarshal(r.Response, want))
	clearIdentity(got.ProtoReflect())
	clearIdentity(want.ProtoReflect())
	if executed, ok := got.(*deployment.ExecuteStageResponse); ok {
		executed.Message = ""
	}
	require.True(t, proto.Equal(want, got), "want %s\ngot  %s", protojson.Format(want), protojson.Format(got))
}

func methodOf(t *testing.T, path string) protoreflect.MethodDescriptor {
	t.Helper()
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
	descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	require.NoError(t, err)
	return descriptor.(protoreflect.MethodDescriptor)
}

func newMessage(t *testing.T, descriptor protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(descriptor.FullName())
	require.NoError(t, err)
	return kind.New().Interface()
}

// clearIdentity empties the fields that differ from run to run.
func clearIdentity(message protoreflect.Message) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == "id" || field.Name() == "created_at" || field.Name() == "updated_at":
			message.Clear(field)
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				clearIdentity(value.List().Get(i).Message())
			}
		case field.Message() != nil && !field.IsMap():
			clearIdentity(value.Message())
		}
		return true
	})
}
