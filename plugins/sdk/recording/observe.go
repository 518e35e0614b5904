// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// reported is what a recorded plugin has reported in all.
type reported struct {
	stages map[string]*stageReport
	plugin map[string]string
	// tools are those that it asked for, as name-version, also in vain.
	tools []string
}

type stageReport struct {
	blocks    map[int64]*model.LogBlock
	metadata  map[string]string
	completed bool
}

func (r *reported) stage(id string) *stageReport {
	if r.stages[id] == nil {
		r.stages[id] = &stageReport{blocks: map[int64]*model.LogBlock{}, metadata: map[string]string{}}
	}
	return r.stages[id]
}

// log is the text of a stage's log.
func (r *reported) log(stage string) string {
	var blocks []*model.LogBlock
	known := r.stage(stage).blocks
	for _, index := range slices.Sorted(maps.Keys(known)) {
		blocks = append(blocks, known[index])
	}
	return logText(blocks)
}

// logText has one line for each line, those that are no plain information marked.
func logText(blocks []*model.LogBlock) string {
	var text strings.Builder
	for _, block := range blocks {
		mark := ""
		if block.GetSeverity() != model.LogSeverity_INFO {
			mark = strings.ToLower(block.GetSeverity().String()) + ": "
		}
		for line := range strings.Lines(block.GetLog()) {
			text.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return text.String()
}

func metadataText(values map[string]string) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text.WriteString(key + ": " + values[key] + "\n")
	}
	return text.String()
}

// toolsText has a line for each tool. Deploy targets are worked at side by side, so the order says nothing.
func toolsText(tools []string) string {
	text := ""
	for _, tool := range slices.Sorted(slices.Values(tools)) {
		text += tool + "\n"
	}
	return text
}

// observe collects the reports that piped took.
func observe(rec *Recording) *reported {
	r := &reported{stages: map[string]*stageReport{}, plugin: map[string]string{}}
	for i := range rec.Calls {
		call := &rec.Calls[i]
		if tool, ok := requestOf(call).(*pluginservice.InstallToolRequest); ok {
			r.tools = append(r.tools, tool.GetName()+"-"+tool.GetVersion())
		}
		if call.ToPlugin() || call.Code != codes.OK.String() {
			continue
		}
		switch request := requestOf(call).(type) {
		case *pluginservice.ReportStageLogsRequest:
			keep(r.stage(request.GetStageId()), request.GetBlocks())
		case *pluginservice.ReportStageLogsFromLastCheckpointRequest:
			stage := r.stage(request.GetStageId())
			keep(stage, request.GetBlocks())
			stage.completed = stage.completed || request.GetCompleted()
		case *pluginservice.PutStageMetadataRequest:
			r.stage(request.GetStageId()).metadata[request.GetKey()] = request.GetValue()
		case *pluginservice.PutStageMetadataMultiRequest:
			maps.Copy(r.stage(request.GetStageId()).metadata, request.GetMetadata())
		case *pluginservice.PutDeploymentPluginMetadataRequest:
			r.plugin[request.GetKey()] = request.GetValue()
		case *pluginservice.PutDeploymentPluginMetadataMultiRequest:
			maps.Copy(r.plugin, request.GetMetadata())
		}
	}
	return r
}

func keep(stage *stageReport, blocks []*model.LogBlock) {
	for _, block := range blocks {
		if stage.blocks[block.GetIndex()] == nil {
			stage.blocks[block.GetIndex()] = block
		}
	}
}

// requestOf is nil when the request cannot be read.
func requestOf(call *Call) proto.Message { return decoded(call.Method, call.Request, true) }

func decoded(method string, data []byte, input bool) proto.Message {
	message, err := Message(method, input)
	if err != nil || proto.Unmarshal(data, message) != nil {
		return nil
	}
	return message
}

// commandsOf are the commands that piped gave to stages, each once.
func commandsOf(rec *Recording) (list []*model.Command) {
	known := map[string]bool{}
	for i := range rec.Calls {
		call := &rec.Calls[i]
		if call.ToPlugin() {
			continue
		}
		var given []*model.Command
		switch answer := decoded(call.Method, call.Response, false).(type) {
		case *pluginservice.ListStageCommandsResponse:
			given = answer.GetCommands()
		case *agentv1.WatchStageCommandsResponse:
			given = answer.GetCommands()
		}
		for _, command := range given {
			if !known[command.GetId()] {
				known[command.GetId()] = true
				list = append(list, command)
			}
		}
	}
	return list
}

// knownAnswers are what piped answered to reads.
type knownAnswers struct{ answers map[string][]byte }

// answersOf keeps the first answer to each question: later ones may contain what the plugin has put by then.
func answersOf(rec *Recording) *knownAnswers {
	known := &knownAnswers{answers: map[string][]byte{}}
	for i := range rec.Calls {
		call := &rec.Calls[i]
		if call.ToPlugin() || call.Code != codes.OK.String() {
			continue
		}
		question, ok := questionOf(strings.TrimPrefix(call.Method, "/"), requestOf(call))
		if _, again := known.answers[question]; ok && !again {
			known.answers[question] = call.Response
		}
	}
	return known
}

// find is for standin.Options.Before.
func (k *knownAnswers) find(method string, request proto.Message) (proto.Message, bool) {
	question, ok := questionOf(method, request)
	if !ok {
		return nil, false
	}
	data, ok := k.answers[question]
	if !ok {
		return nil, false
	}
	answer := decoded("/"+method, data, false)
	return answer, answer != nil
}

func questionOf(method string, request proto.Message) (string, bool) {
	if request == nil {
		return "", false
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	return method + " " + string(data), err == nil
}

// pathsOf are the paths of the applications whose deployments are in the recording.
func pathsOf(rec *Recording) map[string]string {
	paths := map[string]string{}
	for i := range rec.Calls {
		if !rec.Calls[i].ToPlugin() {
			continue
		}
		if d := deploymentOf(requestOf(&rec.Calls[i])); d.GetGitPath() != nil {
			paths[d.GetApplicationId()] = d.GetGitPath().GetPath()
		}
	}
	return paths
}

func deploymentOf(request proto.Message) *model.Deployment {
	var found *model.Deployment
	if request == nil {
		return nil
	}
	inside(request.ProtoReflect(), func(message proto.Message) {
		if d, ok := message.(*model.Deployment); ok && found == nil {
			found = d
		}
	})
	return found
}

// applicationOf is the id of the application that a request is about.
func applicationOf(request proto.Message) string {
	if r, ok := request.(interface{ GetApplicationId() string }); ok {
		return r.GetApplicationId()
	}
	return deploymentOf(request).GetApplicationId()
}

func sourcesOf(message protoreflect.Message) (list []*common.DeploymentSource) {
	inside(message, func(m proto.Message) {
		if source, ok := m.(*common.DeploymentSource); ok {
			list = append(list, source)
		}
	})
	return list
}

// inside visits the messages that a message holds in fields.
func inside(message protoreflect.Message, visit func(proto.Message)) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() != nil && !field.IsMap() && !field.IsList() {
			visit(value.Message().Interface())
			inside(value.Message(), visit)
		}
		return true
	})
}
