// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// recorded is one call of a recording of PipeCD v1.
type recorded struct {
	Seq    int    `json:"seq"`
	Link   string `json:"link"`
	Method string `json:"method"`
	Code   string `json:"code"`
	Req    string `json:"req"`
	Resp   string `json:"resp"`
}

// id expands the number of a placeholder in the recordings.
func id(n string) string {
	const zero = "00000000-0000-4000-8000-000000000000"
	return zero[:len(zero)-len(n)] + n
}

func recording(t *testing.T, name string) []recorded {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	require.NoError(t, err)
	defer f.Close()
	var calls []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c recorded
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		calls = append(calls, c)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, calls)
	return calls
}

// replayer plays recorded calls and wants the recorded codes. Ids that the server gives replace
// the recorded ones from then on; both have the same length.
type replayer struct {
	t   *testing.T
	ids map[string]string
	// differ, when set, gets what differs in the answers; see differences.
	differ func(c recorded, differences []string)
}

func newReplayer(t *testing.T) *replayer { return &replayer{t: t, ids: map[string]string{}} }

// play makes the calls, before(seq) being called in front of each.
func (r *replayer) play(conn *grpc.ClientConn, calls []recorded, before func(seq int)) {
	r.t.Helper()
	for _, c := range calls {
		if before != nil {
			before(c.Seq)
		}
		answer, err := r.call(conn, c)
		require.Equal(r.t, c.Code, status.Code(err).String(), "call %d, %s: %v", c.Seq, c.Method, err)
		if err == nil && c.Resp != "" {
			want := r.learn(c, answer)
			if r.differ != nil {
				r.differ(c, differences(r.t, want, answer))
			}
		}
	}
}

func (r *replayer) call(conn *grpc.ClientConn, c recorded) (proto.Message, error) {
	r.t.Helper()
	answer := message(r.t, methodOf(r.t, c).Output())
	err := conn.Invoke(testContext(r.t), c.Method, r.request(c), answer)
	return answer, err
}

// request is what was asked, with the present ids.
func (r *replayer) request(c recorded) proto.Message {
	r.t.Helper()
	data, err := base64.StdEncoding.DecodeString(c.Req)
	require.NoError(r.t, err)
	for old, id := range r.ids {
		data = bytes.ReplaceAll(data, []byte(old), []byte(id))
	}
	req := message(r.t, methodOf(r.t, c).Input())
	require.NoError(r.t, proto.Unmarshal(data, req))
	return req
}

// decode reads what was answered.
func (r *replayer) decode(text string, into proto.Message) {
	r.t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	require.NoError(r.t, err)
	require.NoError(r.t, proto.Unmarshal(data, into))
}

func methodOf(t *testing.T, c recorded) protoreflect.MethodDescriptor {
	t.Helper()
	descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(
		protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(c.Method, "/"), "/", ".")))
	require.NoError(t, err)
	return descriptor.(protoreflect.MethodDescriptor)
}

func message(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	require.NoError(t, err)
	return kind.New().Interface()
}

// learn pairs the ids at the top of a recorded answer with those of the present one, and returns the recorded one.
func (r *replayer) learn(c recorded, answer proto.Message) proto.Message {
	want := answer.ProtoReflect().New().Interface()
	r.decode(c.Resp, want)
	got := answer.ProtoReflect()
	want.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.StringKind:
		case f.IsList():
			require.Equal(r.t, v.List().Len(), got.Get(f).List().Len(), "call %d, %s", c.Seq, c.Method)
			for i := range v.List().Len() {
				r.pair(v.List().Get(i).String(), got.Get(f).List().Get(i).String())
			}
		case strings.HasSuffix(string(f.Name()), "_id"):
			r.pair(v.String(), got.Get(f).String())
		}
		return true
	})
	return want
}

func (r *replayer) pair(recorded, actual string) {
	if recorded != actual {
		require.Len(r.t, actual, len(recorded))
		r.ids[recorded] = actual
	}
}
