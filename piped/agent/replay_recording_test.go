// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/pipedeck/pipedeck/api/plugin/deployment" // their messages are looked up by name
	_ "github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// controlPlaneLink is the link of calls to the control plane; "piped>NAME" is that to a plugin.
const controlPlaneLink = "piped>cp"

// call is one call, recorded or made by our agent.
type call struct {
	link, method string // without the service
	code, msg    string
	request      proto.Message
	response     proto.Message // nil without a recorded answer
}

// readRecording reads a file of api/testdata/recordings.
func readRecording(t *testing.T, name string) []call {
	t.Helper()
	file, err := os.Open(filepath.Join("../../api/testdata/recordings", name+".jsonl"))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var calls []call
	for lines.Scan() {
		var line struct {
			Link, Method, Code, Msg string
			Req, Resp               []byte
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		method, err := methodOf(line.Method)
		require.NoError(t, err)
		c := call{link: line.Link, method: path.Base(line.Method), code: line.Code, msg: line.Msg,
			request: decode(t, method.Input(), line.Req)}
		if line.Code == "OK" {
			c.response = decode(t, method.Output(), line.Resp)
		}
		calls = append(calls, c)
	}
	require.NoError(t, lines.Err())
	return calls
}

// methodOf finds a method by its path, "/package.Service/Method".
func methodOf(path string) (protoreflect.MethodDescriptor, error) {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(
		protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")))
	if err != nil {
		return nil, err
	}
	return d.(protoreflect.MethodDescriptor), nil
}

func newMessage(d protoreflect.MessageDescriptor) (proto.Message, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		return nil, err
	}
	return kind.New().Interface(), nil
}

// decode wants every field to be known, at any depth.
func decode(t *testing.T, d protoreflect.MessageDescriptor, data []byte) proto.Message {
	t.Helper()
	m, err := newMessage(d)
	require.NoError(t, err)
	require.NoError(t, proto.Unmarshal(data, m))
	requireKnown(t, m.ProtoReflect())
	return m
}

func requireKnown(t *testing.T, m protoreflect.Message) {
	t.Helper()
	require.Empty(t, m.GetUnknown(), "%s has fields that we do not know", m.Descriptor().FullName())
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			if field.MapValue().Message() != nil {
				value.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					requireKnown(t, v.Message())
					return true
				})
			}
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				requireKnown(t, value.List().Get(i).Message())
			}
		default:
			requireKnown(t, value.Message())
		}
		return true
	})
}

// of selects the calls of one link and method, as messages of type M.
func of[M proto.Message](calls []call, link string) []M {
	var list []M
	for _, c := range calls {
		if m, is := c.request.(M); is && (link == "" || c.link == link) {
			list = append(list, m)
		}
	}
	return list
}
