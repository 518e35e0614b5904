// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// DeploymentID is the id of the deployment in the requests that Harness.Request makes.
const DeploymentID = "deployment-1"

// waitLimit bounds Piped.Wait; a test that needs it has failed.
const waitLimit = 20 * time.Second

// StageID is the id that Harness.Request gives a stage.
func StageID(stage string) string { return strings.ToLower(stage) }

// Piped stands in for piped's plugin service: it keeps what plugins report as piped and a control plane
// would, and gives commands to stages.
type Piped struct {
	pluginservice.UnimplementedPluginServiceServer
	agentv1.UnimplementedStageCommandServiceServer
	// Address is host:port of the service.
	Address string
	old     bool

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
	metadata  map[string]string
	commands  []*model.Command
}

func startPiped(t testing.TB, old bool) *Piped {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Piped{
		Address: listener.Addr().String(),
		old:     old,
		changed: make(chan struct{}),
		stages:  make(map[string]*stageRecord),
		plugins: make(map[string]map[string]string),
		shared:  make(map[string]string),
		objects: make(map[string][]byte),
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(p.check))
	pluginservice.RegisterPluginServiceServer(server, p)
	if !old {
		agentv1.RegisterStageCommandServiceServer(server, p)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})
	return p
}

// check validates requests as piped does and lets OnCall interfere.
func (p *Piped) check(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if v, ok := req.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "invalid request: %v", err)
		}
	}
	p.mu.Lock()
	hook := p.onCall
	p.mu.Unlock()
	if hook != nil {
		if err := hook(info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:]); err != nil {
			return nil, err
		}
	}
	return next(ctx, req)
}

// OnCall has hook called before each request of a plugin, with the name of the method; its error is the
// answer. The hook may block to play a slow piped.
func (p *Piped) OnCall(hook func(method string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onCall = hook
}

// Blocks gives the log of a stage in order, each block once; stored picks those that a control plane
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

// Log gives the text of a stage's log so far, one line end after each block.
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

// StageMetadata gives a copy of what a stage put.
func (p *Piped) StageMetadata(stageID string) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.stage(stageID).metadata)
}

// SetStageMetadata plays an earlier run of the stage.
func (p *Piped) SetStageMetadata(stageID, key, value string) {
	p.update(func() { p.stage(stageID).metadata[key] = value })
}

// PluginMetadata gives a copy of what a plugin put for the deployment.
func (p *Piped) PluginMetadata(plugin string) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.plugins[plugin])
}

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
	p.command(stageID, commander, model.Command_APPROVE_STAGE)
}

// Skip asks a stage to skip, by commander.
func (p *Piped) Skip(stageID, commander string) {
	p.command(stageID, commander, model.Command_SKIP_STAGE)
}

// Wait returns when the condition holds after some report; it fails the test after 20 seconds.
func (p *Piped) Wait(t testing.TB, what string, condition func() bool) {
	t.Helper()
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	for {
		changed := p.next()
		if condition() {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			require.FailNow(t, "waited in vain for "+what)
		}
	}
}

// WaitLog returns when the log of a stage holds text.
func (p *Piped) WaitLog(t testing.TB, stageID, text string) {
	t.Helper()
	p.Wait(t, "log "+text, func() bool { return strings.Contains(p.Log(stageID), text) })
}

func (p *Piped) command(stageID, commander string, kind model.Command_Type) {
	p.update(func() {
		stage := p.stage(stageID)
		stage.commands = append(stage.commands, &model.Command{
			Id: fmt.Sprintf("%s-%d", stageID, len(stage.commands)), PipedId: "piped-1", DeploymentId: DeploymentID,
			StageId: stageID, Commander: commander, Type: kind, CreatedAt: 1, UpdatedAt: 1,
		})
	})
}

// next ends with the next report.
func (p *Piped) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

func (p *Piped) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

// stage gives the record of a stage; p.mu is held.
func (p *Piped) stage(id string) *stageRecord {
	if p.stages[id] == nil {
		p.stages[id] = &stageRecord{live: map[int64]*model.LogBlock{}, stored: map[int64]*model.LogBlock{}, metadata: map[string]string{}}
	}
	return p.stages[id]
}
