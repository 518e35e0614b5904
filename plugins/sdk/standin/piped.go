// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// Options say which piped is played.
type Options struct {
	// Old is PipeCD's own piped, which cannot push commands.
	Old bool
	// Before knows what piped kept before the plugin put anything, such as what a recording holds. It answers reads
	// that nothing else answers; nil, or false from it, is that nothing is known.
	Before func(method string, request proto.Message) (answer proto.Message, known bool)
	// Invalid, when set, gets requests that break the protocol's rules, which are refused.
	Invalid func(method string, err error)
	// Each, when set, is called with each request of a plugin before the rules are checked; method is the last part of
	// its name. It may block to play a slow piped; its error is the answer.
	Each func(ctx context.Context, method string, request proto.Message) error
	// Tool returns where a tool is that a plugin has piped install; nil, or an empty path, is a path without a file.
	Tool func(name, version string) (path string)
	// Address is host:port to serve at; empty is a free port of 127.0.0.1.
	Address string
	// MaxMessage bounds a request, in bytes; 0 is the bound of gRPC, which piped keeps: 4 MiB.
	MaxMessage int
}

// Piped stands in for piped's plugin service: it keeps what plugins report as piped and a control plane
// would, and gives commands to stages. Its methods may be called from several goroutines.
type Piped struct {
	pluginservice.UnimplementedPluginServiceServer
	agentv1.UnimplementedStageCommandServiceServer
	// Address is host:port of the service.
	Address string
	// Close ends the service.
	Close func() error

	options   Options
	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at every change
	stages    map[string]*stageRecord
	plugins   map[string]map[string]string // plugin name → metadata
	shared    map[string]string
	objects   map[string][]byte
	installed []string
	onCall    func(method string) error
}

// stageRecord is what was reported for one stage.
type stageRecord struct {
	live      map[int64]*model.LogBlock // everything
	stored    map[int64]*model.LogBlock // what came with checkpoints
	completed bool
	calls     int // log calls
	conflicts int // blocks that came with the index of another
	metadata  map[string]string
	commands  []*model.Command
}

// Start serves a new Piped until Close.
func Start(options Options) (*Piped, error) {
	listener, err := net.Listen("tcp", cmp.Or(options.Address, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("serve the plugin service: %w", err)
	}
	p := &Piped{
		Address: listener.Addr().String(),
		options: options,
		changed: make(chan struct{}),
		stages:  make(map[string]*stageRecord),
		plugins: make(map[string]map[string]string),
		shared:  make(map[string]string),
		objects: make(map[string][]byte),
	}
	serverOptions := []grpc.ServerOption{grpc.UnaryInterceptor(p.check)}
	if options.MaxMessage > 0 {
		serverOptions = append(serverOptions, grpc.MaxRecvMsgSize(options.MaxMessage))
	}
	server := grpc.NewServer(serverOptions...)
	pluginservice.RegisterPluginServiceServer(server, p)
	if !options.Old {
		agentv1.RegisterStageCommandServiceServer(server, p)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	p.Close = sync.OnceValue(func() error {
		server.Stop()
		return <-served
	})
	return p, nil
}

// check validates requests as piped does and lets OnCall interfere.
func (p *Piped) check(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	method := info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:]
	if message, ok := req.(proto.Message); ok && p.options.Each != nil {
		if err := p.options.Each(ctx, method, message); err != nil {
			return nil, err
		}
	}
	if v, ok := req.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			if p.options.Invalid != nil {
				p.options.Invalid(info.FullMethod, err)
			}
			return nil, status.Errorf(codes.InvalidArgument, "invalid request: %v", err)
		}
	}
	p.mu.Lock()
	hook := p.onCall
	p.mu.Unlock()
	if hook != nil {
		if err := hook(method); err != nil {
			return nil, err
		}
	}
	return next(ctx, req)
}

// before asks what was known earlier; method is the last part of its name.
func before[T proto.Message](p *Piped, method string, request proto.Message) (answer T, known bool) {
	if p.options.Before == nil {
		return answer, false
	}
	message, known := p.options.Before(pluginservice.PluginService_ServiceDesc.ServiceName+"/"+method, request)
	if !known {
		return answer, false
	}
	answer, known = message.(T)
	return answer, known
}

// Old is whether PipeCD's own piped is played.
func (p *Piped) Old() bool { return p.options.Old }

// OnCall has hook called before each request of a plugin, with the name of the method; its error is the
// answer. The hook may block to play a slow piped.
func (p *Piped) OnCall(hook func(method string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onCall = hook
}

// Blocks returns the log of a stage in order, each block once; stored picks those that a control plane
// would have stored for good.
func (p *Piped) Blocks(stageID string, stored bool) []*model.LogBlock {
	p.mu.Lock()
	defer p.mu.Unlock()
	blocks := p.stage(stageID).live
	if stored {
		blocks = p.stage(stageID).stored
	}
	ordered := make([]*model.LogBlock, 0, len(blocks))
	for _, index := range slices.Sorted(maps.Keys(blocks)) {
		ordered = append(ordered, blocks[index])
	}
	return ordered
}

// Log returns the text of a stage's log so far, one line end after each block.
func (p *Piped) Log(stageID string) string {
	var text strings.Builder
	for _, block := range p.Blocks(stageID, false) {
		text.WriteString(strings.TrimSuffix(block.GetLog(), "\n") + "\n")
	}
	return text.String()
}

// Completed is whether the log of the stage was reported as complete.
func (p *Piped) Completed(stageID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage(stageID).completed
}

// LogCalls counts the calls that reported the log of a stage.
func (p *Piped) LogCalls(stageID string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage(stageID).calls
}

// LogConflicts counts the blocks of a stage whose index an earlier block with another text had. Users do not see them.
func (p *Piped) LogConflicts(stageID string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage(stageID).conflicts
}

// StageMetadata returns a copy of what a stage put.
func (p *Piped) StageMetadata(stageID string) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.stage(stageID).metadata)
}

// SetStageMetadata plays an earlier run of the stage.
func (p *Piped) SetStageMetadata(stageID, key, value string) {
	p.update(func() { p.stage(stageID).metadata[key] = value })
}

// PluginMetadata returns a copy of what a plugin put for the deployment.
func (p *Piped) PluginMetadata(plugin string) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.plugins[plugin])
}

// BeginDeployment forgets what plugins have stored for a deployment, as another one has nothing of it. Objects of
// applications stay.
func (p *Piped) BeginDeployment() { p.update(func() { clear(p.plugins) }) }

// SetSharedMetadata plays piped's own notes on the deployment.
func (p *Piped) SetSharedMetadata(key, value string) { p.update(func() { p.shared[key] = value }) }

// Installed names the tools that plugins asked for, as name-version.
func (p *Piped) Installed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.installed)
}

// Approve gives a stage an approval by commander.
func (p *Piped) Approve(stageID, commander string) {
	p.order(stageID, commander, model.Command_APPROVE_STAGE)
}

// Skip asks a stage to skip, by commander.
func (p *Piped) Skip(stageID, commander string) {
	p.order(stageID, commander, model.Command_SKIP_STAGE)
}

// Command gives a stage a command that was made elsewhere.
func (p *Piped) Command(stageID string, command *model.Command) {
	p.update(func() {
		stage := p.stage(stageID)
		stage.commands = append(stage.commands, command)
	})
}

// Until returns when the condition holds after some report, or with the cause of ctx's end.
func (p *Piped) Until(ctx context.Context, condition func() bool) error {
	for {
		changed := p.Next()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Next ends with the next report.
func (p *Piped) Next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

func (p *Piped) order(stageID, commander string, kind model.Command_Type) {
	p.update(func() {
		stage := p.stage(stageID)
		stage.commands = append(stage.commands, &model.Command{
			Id: fmt.Sprintf("%s-%d", stageID, len(stage.commands)), PipedId: "piped-1", DeploymentId: DeploymentID,
			StageId: stageID, Commander: commander, Type: kind, CreatedAt: 1, UpdatedAt: 1,
		})
	})
}

func (p *Piped) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

// stage returns the record of a stage; p.mu is held. Ids of stages are unique, whatever their deployment.
func (p *Piped) stage(id string) *stageRecord {
	if p.stages[id] == nil {
		p.stages[id] = &stageRecord{live: map[int64]*model.LogBlock{}, stored: map[int64]*model.LogBlock{},
			metadata: map[string]string{}}
	}
	return p.stages[id]
}
