// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package wiretest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
)

// recorded is one call of piped to a plugin, or of a plugin to piped, as it was on the wire between PipeCD's own
// processes.
type recorded struct {
	// Link is "piped>NAME" or "NAME>piped" with the name of the plugin; empty is the plugin under test.
	Link   string `json:"link"`
	Method string `json:"method"`
	Code   string `json:"code"`
	// Request and Response are protobuf bytes; there is a response only when Code is OK.
	Request  []byte `json:"req"`
	Response []byte `json:"resp"`
}

// Replay makes the recorded calls of a file (JSON lines) in their order and holds the plugin to the
// recorded codes and answers, and to the keys of the metadata that the recorded plugin stored; ids, times and the
// message of a stage, which PipeCD never fills, may differ. Calls of other links are skipped. Directories of the
// recording become dir.
func (h *Harness) Replay(t *testing.T, file, dir string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	stored := map[string][]string{}
	for lines.Scan() {
		var r recorded
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		switch r.Link {
		case "", "piped>" + h.name:
			t.Run(r.Method[strings.LastIndexByte(r.Method, '/')+1:], func(t *testing.T) { h.replay(t, r, dir) })
		case h.name + ">piped":
			noteKeys(t, r, stored)
		}
	}
	require.NoError(t, lines.Err())
	for of, keys := range stored {
		values := h.Piped.PluginMetadata(h.name)
		if of != "" {
			values = h.Piped.StageMetadata(of)
		}
		require.Subset(t, slices.Collect(maps.Keys(values)), keys, "metadata of %q", of)
	}
}

// noteKeys collects what was stored, by stage; "" is the deployment.
func noteKeys(t *testing.T, r recorded, stored map[string][]string) {
	request := r.message(t, true)
	require.NoError(t, proto.Unmarshal(r.Request, request))
	switch put := request.(type) {
	case *pluginservice.PutStageMetadataRequest:
		stored[put.GetStageId()] = append(stored[put.GetStageId()], put.GetKey())
	case *pluginservice.PutStageMetadataMultiRequest:
		stored[put.GetStageId()] = slices.AppendSeq(stored[put.GetStageId()], maps.Keys(put.GetMetadata()))
	case *pluginservice.PutDeploymentPluginMetadataRequest:
		stored[""] = append(stored[""], put.GetKey())
	}
}

func (h *Harness) replay(t *testing.T, r recorded, dir string) {
	request, got, want := r.message(t, true), r.message(t, false), r.message(t, false)
	require.NoError(t, proto.Unmarshal(r.Request, request))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if execute, ok := request.(*deployment.ExecuteStageRequest); ok {
		execute.GetInput().GetTargetDeploymentSource().ApplicationDirectory = dir
		if r.Code == codes.Canceled.String() {
			defer h.cancelOnceBegun(execute.GetInput().GetStage().GetId(), cancel)()
		}
	}
	err := h.Conn.Invoke(ctx, r.Method, request, got)
	require.Equal(t, r.Code, status.Code(err).String(), "%v", err)
	if err != nil {
		return
	}
	require.NoError(t, proto.Unmarshal(r.Response, want))
	recording.ClearIdentity(got.ProtoReflect())
	recording.ClearIdentity(want.ProtoReflect())
	if executed, ok := got.(*deployment.ExecuteStageResponse); ok {
		executed.Message = ""
	}
	require.True(t, proto.Equal(want, got), "want %s\ngot  %s", protojson.Format(want), protojson.Format(got))
}

// cancelOnceBegun cancels a call as soon as the stage has reported anything; the function that it returns ends that.
func (h *Harness) cancelOnceBegun(stage string, cancel func()) (end func()) {
	ended := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			changed := h.Piped.Next()
			if h.Piped.LogCalls(stage) > 0 {
				cancel()
				return
			}
			select {
			case <-changed:
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		work.Wait()
	}
}

// message is an empty request (input) or answer of the recorded call.
func (r recorded) message(t *testing.T, input bool) proto.Message {
	t.Helper()
	message, err := recording.Message(r.Method, input)
	require.NoError(t, err)
	return message
}
