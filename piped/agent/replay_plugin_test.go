// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// pluginConfig is the "config" of a plugin's entry: the address of the server in the test that answers for the
// plugin's process.
type pluginConfig struct {
	Backend string `json:"backend"`
}

// plugin answers piped with what was recorded of the plugin of its name, and makes the recorded calls to piped.
type plugin struct {
	name, address string
	// script are the recorded calls; those of other links are skipped.
	script []call
	begun  sync.Once
	// heard is called after every question has been noted.
	heard func()
	// reports is called for every question for changes of live states; nil is a plugin that does not report changes.
	reports func(ctx context.Context, position int64) (*livestate.AwaitChangesResponse, error)

	mu    sync.Mutex
	used  map[int]bool // indexes of script
	calls []call
	piped *grpc.ClientConn
	fails []error
}

func startPlugin(t *testing.T, name string, script []call, heard func()) *plugin {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &plugin{name: name, address: listener.Addr().String(), script: script, heard: heard, used: map[int]bool{}}
	server := grpc.NewServer(grpc.UnknownServiceHandler(p.serve))
	done := make(chan error, 1)
	go func() { done <- server.Serve(&greeted{Listener: listener, plugin: p}) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-done)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.piped != nil {
			p.piped.Close()
		}
		require.NoError(t, errors.Join(p.fails...))
	})
	return p
}

// greeted takes the first line off each connection.
type greeted struct {
	net.Listener
	plugin *plugin
}

func (g *greeted) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	var line []byte
	for b := make([]byte, 1); b[0] != '\n'; line = append(line, b[0]) {
		if _, err := io.ReadFull(conn, b); err != nil {
			return conn, nil // a process that died; the server finds out
		}
	}
	var argv []string
	if err := json.Unmarshal(line, &argv); err == nil {
		g.plugin.greet(argv)
	}
	return conn, nil
}

func (p *plugin) greet(argv []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.piped != nil {
		return
	}
	conn, err := grpc.NewClient(strings.Replace(argv[2], "localhost", "127.0.0.1", 1),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		p.fails = append(p.fails, err)
		return
	}
	p.piped = conn
}

func (p *plugin) serve(_ any, stream grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(stream)
	method, err := methodOf(name)
	if err != nil {
		return status.Error(codes.Unimplemented, "unknown service")
	}
	request, err := newMessage(method.Input())
	if err != nil {
		return err
	}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	answer, err := p.answer(stream.Context(), path.Base(name), request)
	if err != nil {
		return err
	}
	return stream.SendMsg(answer)
}

func (p *plugin) answer(ctx context.Context, method string, request proto.Message) (proto.Message, error) {
	if method == "AwaitChanges" {
		if p.reports == nil {
			return nil, status.Error(codes.Unimplemented, "unknown service")
		}
		return p.reports(ctx, request.(*livestate.AwaitChangesRequest).GetPosition())
	}
	if method == "FetchDefinedStages" {
		// Before the question is noted: the scenario may end then. Whoever asks may lose patience and ask again.
		p.begun.Do(func() { p.start(context.WithoutCancel(ctx)) })
	}
	p.note(requireContent(request))
	p.mu.Lock()
	p.calls = append(p.calls, call{link: "piped>" + p.name, method: method, request: request})
	index := p.find(method, request)
	p.mu.Unlock()
	p.heard()
	if build, is := request.(*deployment.BuildPipelineSyncStagesRequest); is && index < 0 {
		return asAsked(build), nil // the recording was cut
	}
	if index < 0 {
		return nil, status.Errorf(codes.Unimplemented, "%s was not recorded", method)
	}
	recorded := p.script[index]
	if execute, is := request.(*deployment.ExecuteStageRequest); is {
		p.note(p.act(ctx, index, execute))
		if recorded.code == codes.Canceled.String() {
			<-ctx.Done()
		}
	}
	if recorded.code == codes.OK.String() {
		return recorded.response, nil
	}
	var code codes.Code
	if err := code.UnmarshalJSON([]byte(strconv.Quote(screaming(recorded.code)))); err != nil {
		return nil, err
	}
	return nil, status.Error(code, recorded.msg)
}

// asAsked makes a stage of each that is asked for.
func asAsked(request *deployment.BuildPipelineSyncStagesRequest) *deployment.BuildPipelineSyncStagesResponse {
	answer := &deployment.BuildPipelineSyncStagesResponse{}
	for _, s := range request.GetStages() {
		answer.Stages = append(answer.Stages, &model.PipelineStage{
			Name: s.GetName(), Index: s.GetIndex(), CreatedAt: 1, UpdatedAt: 1,
			AvailableOperation: model.ManualOperation_MANUAL_OPERATION_NONE,
		})
	}
	return answer
}

// screaming writes a code's name as JSON knows it: InvalidArgument as INVALID_ARGUMENT.
func screaming(code string) string {
	var b strings.Builder
	for i, r := range code {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.Replace(strings.ToUpper(b.String()), "CANCELED", "CANCELLED", 1)
}

// find returns the first recorded call like this that was not used yet, or the last that was.
func (p *plugin) find(method string, request proto.Message) int {
	last := -1
	for i, c := range p.script {
		if c.link != "piped>"+p.name || c.method != method || subject(c.request) != subject(request) {
			continue
		}
		last = i
		if !p.used[i] {
			break
		}
	}
	if last >= 0 {
		p.used[last] = true
	}
	return last
}

// subject is what a question is about.
func subject(request proto.Message) string {
	switch r := request.(type) {
	case *deployment.ExecuteStageRequest:
		return r.GetInput().GetDeployment().GetApplicationName() + " " + r.GetInput().GetStage().GetName()
	case *deployment.DetermineVersionsRequest:
		return r.GetInput().GetDeployment().GetApplicationName()
	case *livestate.GetLivestateRequest:
		return r.GetApplicationName()
	}
	return ""
}

// start makes the calls that the plugin made as it started.
func (p *plugin) start(ctx context.Context) {
	for _, c := range p.script {
		if c.link == "piped>"+p.name && c.method == "ExecuteStage" {
			return
		}
		if c.link == p.name+">piped" {
			p.note(p.repeat(ctx, c, strings.NewReplacer()))
		}
	}
}

// note keeps what shall fail the test.
func (p *plugin) note(err error) {
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.fails = append(p.fails, fmt.Errorf("plugin %s: %w", p.name, err))
	}
}

// act makes the calls that the plugin made during the recorded stage, with the present ids.
func (p *plugin) act(ctx context.Context, index int, now *deployment.ExecuteStageRequest) error {
	then := p.script[index].request.(*deployment.ExecuteStageRequest)
	ids := strings.NewReplacer(
		then.GetInput().GetDeployment().GetId(), now.GetInput().GetDeployment().GetId(),
		then.GetInput().GetStage().GetId(), now.GetInput().GetStage().GetId(),
	)
	for _, c := range p.script[index+1:] {
		if c.link == "piped>"+p.name && c.method == "ExecuteStage" {
			break
		}
		if c.link != p.name+">piped" {
			continue
		}
		if err := p.repeat(ctx, c, ids); err != nil {
			return err
		}
	}
	return nil
}

// repeat makes one recorded call to piped and wants the recorded code and, apart from ids, answer. What others
// have to do first is waited for.
func (p *plugin) repeat(ctx context.Context, c call, ids *strings.Replacer) error {
	request := proto.Clone(c.request)
	data, err := protojson.Marshal(request)
	if err != nil {
		return err
	}
	if err := protojson.Unmarshal([]byte(ids.Replace(string(data))), request); err != nil {
		return err
	}
	calling := ctx
	if c.code == codes.OK.String() { // also when piped, on a busy machine, cancels the stage before this call
		calling = context.WithoutCancel(ctx)
	}
	for {
		answer := c.response.ProtoReflect().New().Interface()
		err := p.piped.Invoke(calling, "/"+pluginservice.PluginService_ServiceDesc.ServiceName+"/"+c.method, request,
			answer)
		if status.Code(err).String() != c.code {
			return fmt.Errorf("%s: recorded was %s, got %w", c.method, c.code, err)
		}
		list, grows := answer.(*pluginservice.ListStageCommandsResponse)
		switch {
		case grows && commanders(list) >= commanders(c.response.(*pluginservice.ListStageCommandsResponse)),
			answers(c.response) == answers(answer):
			return nil
		case !grows:
			return fmt.Errorf("%s: recorded was %s, got %s", c.method, answers(c.response), answers(answer))
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// commanders are those who approve, in the order of their names.
func commanders(r *pluginservice.ListStageCommandsResponse) string {
	var list []string
	for _, c := range r.GetCommands() {
		list = append(list, c.GetCommander())
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// answers writes what counts of an answer of piped.
func answers(m proto.Message) string {
	if r, is := m.(*pluginservice.InstallToolResponse); is {
		return path.Base(r.GetInstalledPath())
	}
	data, err := protojson.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return sorted(data)
}

// made returns what piped has asked so far.
func (p *plugin) made() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}
