// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
)

// plane is a control plane that notes the request that arrives.
type plane struct {
	*controlplane.Client

	mu      sync.Mutex
	request proto.Message
	err     error
}

func newPlane(t *testing.T, masker *Masker) *plane {
	t.Helper()
	p := &plane{}
	address := controlplanetest.Serve(t, func(_ context.Context, _ string, request proto.Message) (
		proto.Message, error,
	) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.request = request
		if _, ok := request.(*pipedservice.ReportPipedMetaRequest); ok {
			return &pipedservice.ReportPipedMetaResponse{Name: "answered"}, p.err
		}
		return nil, p.err
	})
	p.Client = controlplanetest.Dial(t, address, controlplane.Layers{Secrets: Reports(masker)})
	return p
}

func (p *plane) arrived() proto.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.request
}

// fill puts a text into every field that can hold it.
func fill(message protoreflect.Message, text string, depth int) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		switch {
		case field.IsMap():
			values := message.Mutable(field).Map()
			if field.MapValue().Kind() == protoreflect.StringKind {
				values.Set(protoreflect.ValueOfString("key").MapKey(), protoreflect.ValueOfString(text))
			} else if field.MapValue().Message() != nil && depth > 0 {
				value := values.NewValue()
				fill(value.Message(), text, depth-1)
				values.Set(protoreflect.ValueOfString("key").MapKey(), value)
			}
		case field.IsList():
			list := message.Mutable(field).List()
			if field.Kind() == protoreflect.StringKind {
				list.Append(protoreflect.ValueOfString(text))
			} else if field.Message() != nil && depth > 0 {
				fill(list.AppendMutable().Message(), text, depth-1)
			}
		case field.Kind() == protoreflect.StringKind:
			message.Set(field, protoreflect.ValueOfString(text))
		case field.Kind() == protoreflect.BytesKind:
			message.Set(field, protoreflect.ValueOfBytes([]byte(text)))
		case field.Message() != nil && depth > 0:
			fill(message.Mutable(field).Message(), text, depth-1)
		}
	}
}

// namesOnly are the fields that a secret may pass in, because they name something: whoever adds a field
// decides here or in freeText.
var namesOnly = strings.Fields(`
	api_version application_id application_name author authorized_operators branch cloud_provider command_id commander
	config_filename cursor deploy_target deploy_targets deployment_chain_id deployment_id deployment_trace_commit_hash
	encrypt_service_account hash head_deployment_id id key kind labels name namespace object owner_ids
	parent_ids path piped_id
	piped_stats platform_provider plugin_name project_id public_key repo_id requires resource_type running_commit_hash
	running_config_filename stage_id type version`)

func TestEveryFieldOfEveryRequestIsMaskedOrAName(t *testing.T) {
	t.Parallel()
	const secret = "user:hunter2@example.com"
	p := newPlane(t, masking(t, secret))
	client := reflect.ValueOf(p.Client)
	for _, method := range pipedservice.PipedService_ServiceDesc.Methods {
		call := client.MethodByName(method.MethodName)
		require.True(t, call.IsValid(), method.MethodName)
		request := reflect.New(call.Type().In(1).Elem())
		message := request.Interface().(proto.Message)
		fill(message.ProtoReflect(), secret, 6)
		before := proto.Clone(message)
		answers := call.Call([]reflect.Value{reflect.ValueOf(t.Context()), request})
		require.Nil(t, answers[1].Interface(), method.MethodName)
		require.True(t, proto.Equal(before, message), "%s changed the request of the caller", method.MethodName)
		visit(p.arrived().ProtoReflect(), func(field protoreflect.FieldDescriptor, text string) {
			name := string(field.Name())
			if slices.Contains(namesOnly, name) {
				require.Equal(t, secret, text, "%s of %s", name, method.MethodName)
				return
			}
			require.Equal(t, Mask, text, "%s of %s is neither free text nor a name", name, method.MethodName)
		})
	}
}

// visit calls see for every text of a message.
func visit(message protoreflect.Message, see func(protoreflect.FieldDescriptor, string)) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		one := func(of protoreflect.FieldDescriptor, value protoreflect.Value) {
			switch of.Kind() {
			case protoreflect.MessageKind:
				visit(value.Message(), see)
			case protoreflect.StringKind:
				see(field, value.String())
			case protoreflect.BytesKind:
				see(field, string(value.Bytes()))
			}
		}
		switch {
		case field.IsMap():
			value.Map().Range(func(_ protoreflect.MapKey, inner protoreflect.Value) bool {
				one(field.MapValue(), inner)
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				one(field, value.List().Get(i))
			}
		default:
			one(field, value)
		}
		return true
	})
}

func TestAnswersAndErrorsComeBack(t *testing.T) {
	t.Parallel()
	p := newPlane(t, NewMasker())
	answer, err := p.ReportPipedMeta(t.Context(), &pipedservice.ReportPipedMetaRequest{})
	require.NoError(t, err)
	require.Equal(t, "answered", answer.GetName())
	p.err = status.Error(codes.NotFound, "no such piped")
	_, err = p.ReportPipedMeta(t.Context(), &pipedservice.ReportPipedMetaRequest{})
	require.Equal(t, status.Convert(p.err).Proto(), status.Convert(err).Proto())
}

func blocks(texts ...string) (list []*model.LogBlock) {
	for i, text := range texts {
		list = append(list, &model.LogBlock{Index: int64(i + 1), Log: text, CreatedAt: 1})
	}
	return list
}

func TestAStageLogDoesNotShowAValueThatItsBlocksDivide(t *testing.T) {
	t.Parallel()
	p := newPlane(t, masking(t, "hunter2-is-the-password"))
	live := func(stage string, texts ...string) string {
		_, err := p.ReportStageLogs(
			t.Context(), &pipedservice.ReportStageLogsRequest{StageId: stage, Blocks: blocks(texts...)},
		)
		require.NoError(t, err)
		return logOf(p.arrived().(*pipedservice.ReportStageLogsRequest).GetBlocks())
	}
	checkpoint := func(stage string, texts ...string) string {
		_, err := p.ReportStageLogsFromLastCheckpoint(
			t.Context(),
			&pipedservice.ReportStageLogsFromLastCheckpointRequest{
				StageId: stage, Blocks: blocks(texts...), Completed: true,
			},
		)
		require.NoError(t, err)
		require.True(t, p.arrived().(*pipedservice.ReportStageLogsFromLastCheckpointRequest).GetCompleted())
		return logOf(p.arrived().(*pipedservice.ReportStageLogsFromLastCheckpointRequest).GetBlocks())
	}
	require.Equal(t, "use ******|****** now\n", live("a", "use hunter2-is", "-the-password now\n"), "in one report")
	require.Equal(t, "use ******", live("a", "use hunter2-is"))
	require.Equal(t, "of b", live("b", "of b"), "another stage writes meanwhile")
	require.Equal(t, "****** now\n", live("a", "-the-password now\n"), "in two reports")
	require.Equal(
		t, "use ******|****** now\n|******", checkpoint("a", "use hunter2-is", "-the-password now\n", "hunter2-"),
		"once more at the checkpoint",
	)
	require.Equal(t, "******\n", live("a", "is-the-password\n"), "over a checkpoint")
	require.Equal(t, "******\n", checkpoint("a", "is-the-password\n"), "from one checkpoint to the next")
}

func logOf(blocks []*model.LogBlock) string {
	var texts []string
	for _, block := range blocks {
		texts = append(texts, block.GetLog())
	}
	return strings.Join(texts, "|")
}

func TestUnfinishedLinesAreRememberedForABoundedNumberOfLogs(t *testing.T) {
	t.Parallel()
	c := &masked{masker: masking(t, "hunter2"), logs: map[logID]*stageLog{}}
	for i := range maxLogs + 10 {
		c.maskLog(logID{stage: "busy"}, blocks("x"), false)
		c.maskLog(logID{stage: fmt.Sprint(i)}, blocks("x"), false)
	}
	require.Len(t, c.logs, maxLogs)
	require.Contains(t, c.logs, logID{stage: "busy"}, "the one that wrote last is not forgotten")
	require.NotContains(t, c.logs, logID{stage: "0"})
}

func TestLogRecordsAreMaskedInAllEncodings(t *testing.T) {
	t.Parallel()
	type thing struct{ Inner string }
	type holder struct{ Thing *thing }
	m := masking(t, "hunter2")
	for name, inner := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			logger := slog.New(Handler(inner(&out), m))
			logger.With("with", "hunter2").WithGroup("group").Info("login with hunter2",
				"text", "a hunter2", "error", fmt.Errorf("bad hunter2"), "struct", thing{"hunter2"}, "list",
				[]string{"hunter2"},
				slog.Group(
					"inner", "deep", "hunter2",
				), "behind a pointer", holder{&thing{"hunter2"}}, "number", 7, "plain", []string{path.Base("a/b")})
			require.NotContains(t, out.String(), "hunter2")
			require.Equal(t, 8, strings.Count(out.String(), Mask))
			require.Contains(t, out.String(), "number")
			logger.Debug("not enabled")
			require.NotContains(t, out.String(), "not enabled")
		})
	}
}
