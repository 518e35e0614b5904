// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// ids name a stage of a deployment.
type ids struct{ deployment, stage string }

// running is a stage that runs.
type running struct {
	*plugin
	ids
	ctx     context.Context
	cancel  context.CancelFunc
	attempt int32

	logging sync.Mutex
	blocks  []*model.LogBlock
	index   int64
	// finished is set when the stage has done its work.
	finished atomic.Bool
}

// begin makes a stage, and the mistakes that it shares with others.
func (p *plugin) begin(ctx context.Context, in *deployment.ExecutePluginInput) *running {
	s := &running{plugin: p, ids: ids{in.Deployment.Id, in.Stage.Id}, attempt: in.Stage.RetriedCount,
		index: time.Now().UnixMicro()}
	if makes("index-of-attempt") {
		s.index = 1
	}
	if makes("one-stage-at-once", "cancel-keeps-lock") {
		p.oneStage.Lock()
	}
	if makes("plan-waits") {
		p.planning.RLock()
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running++
	p.last = s.ids
	if makes("cancels-all") {
		p.cancels = append(p.cancels, s.cancel)
		context.AfterFunc(ctx, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, cancel := range p.cancels {
				cancel()
			}
		})
	}
	return s
}

func (s *running) leave() {
	if makes("one-stage-at-once") || makes("cancel-keeps-lock") && s.ctx.Err() == nil {
		s.oneStage.Unlock()
	}
	if makes("plan-waits") {
		s.planning.RUnlock()
	}
	s.finished.Store(s.ctx.Err() == nil)
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plugin.running--
	s.ended++
}

// reporting is a context for reports, which go on after a cancel.
func (s *running) reporting() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(s.ctx), 20*time.Second)
}

func (s *running) log(text string) { s.write(text, model.LogSeverity_INFO) }

func (s *running) logError(err error) {
	if makes("cancel-without-reason") && s.ctx.Err() != nil {
		_, _ = s.get("pipedeck/stop")
	}
	s.write(err.Error(), model.LogSeverity_ERROR)
}

// write reports one block at once.
func (s *running) write(text string, severity model.LogSeverity) {
	s.logging.Lock()
	defer s.logging.Unlock()
	block := &model.LogBlock{Index: s.index, Log: text, Severity: severity, CreatedAt: time.Now().Unix()}
	if !makes("log-index-fixed") {
		s.index++
	}
	switch {
	case makes("log-empty"):
		block.Log = ""
	case makes("log-milliseconds"):
		block.CreatedAt = time.Now().UnixMilli()
	case makes("log-escapes"):
		block.Log = "\x1b[2J" + text
	case makes("log-too-large"):
		block.Log = strings.Repeat("x", 5<<20)
	}
	s.blocks = append(s.blocks, block)
	ctx, cancel := s.reporting()
	defer cancel()
	if makes("log-impatient") {
		return // all at the end
	}
	to := s.target()
	_, _ = s.piped.ReportStageLogs(ctx, &pluginservice.ReportStageLogsRequest{DeploymentId: to.deployment,
		StageId: to.stage, RetriedCount: s.attempt, Blocks: []*model.LogBlock{block}})
}

// target is where the log goes.
func (s *running) target() ids {
	switch {
	case makes("global-log"):
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.last
	case makes("log-elsewhere"):
		return ids{"deployment-1", s.ids.stage}
	}
	return s.ids
}

// complete reports the whole log.
func (s *running) complete() error {
	if makes("cancel-unsaid") && s.ctx.Err() != nil || makes("log-not-completed") {
		return nil
	}
	if makes("works-after-cancel") && s.ctx.Err() != nil {
		go func() {
			for range 50 {
				time.Sleep(100 * time.Millisecond)
				s.log("still at it")
			}
		}()
	}
	if makes("busy-after-cancel") && s.ctx.Err() != nil {
		go func() {
			for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
			}
		}()
	}
	s.logging.Lock()
	defer s.logging.Unlock()
	blocks := slices.Clone(s.blocks)
	if makes("log-of-all") {
		s.mu.Lock()
		s.all = append(s.all, s.blocks...)
		blocks = slices.Clone(s.all)
		s.mu.Unlock()
	}
	switch {
	case makes("log-not-stored"):
		blocks = blocks[:1]
	case makes("log-backwards"):
		slices.Reverse(blocks)
	}
	ctx, cancel := s.reporting()
	defer cancel()
	if makes("log-impatient") {
		ctx, cancel = context.WithTimeout(context.WithoutCancel(s.ctx), time.Second)
		defer cancel()
	}
	for {
		to := s.target()
		_, err := s.piped.ReportStageLogsFromLastCheckpoint(ctx,
			&pluginservice.ReportStageLogsFromLastCheckpointRequest{DeploymentId: to.deployment, StageId: to.stage,
				RetriedCount: s.attempt, Blocks: blocks, Completed: true})
		if status.Code(err) != codes.Unavailable || makes("log-given-up") || ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *running) get(key string) (string, error) {
	ctx, cancel := s.reporting()
	defer cancel()
	answer, err := s.piped.GetStageMetadata(ctx, &pluginservice.GetStageMetadataRequest{DeploymentId: s.deployment,
		StageId: s.stage, Key: key})
	if makes("metadata-read-errors-ignored") {
		err = nil
	}
	return answer.GetValue(), optional(err)
}

func (s *running) put(key, value string) error {
	ctx, cancel := s.reporting()
	defer cancel()
	to := s.ids
	if makes("global-metadata") {
		s.mu.Lock()
		to = s.last
		s.mu.Unlock()
	}
	if makes("metadata-large") {
		value = strings.Repeat("x", 300<<10)
	}
	_, err := s.piped.PutStageMetadata(ctx, &pluginservice.PutStageMetadataRequest{DeploymentId: to.deployment,
		StageId: to.stage, Key: key, Value: value})
	return stored(err)
}

// optional takes a method that piped does not have for an empty answer.
func optional(err error) error {
	if status.Code(err) == codes.Unimplemented && makes("missing-crashes") {
		panic(err)
	}
	if status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}

// stored is optional for an answer to a value that piped was to store.
func stored(err error) error {
	if makes("metadata-write-errors-ignored") {
		return nil
	}
	return optional(err)
}

// putShared stores something with the deployment.
func (s *running) putShared(plugin string) error {
	ctx, cancel := s.reporting()
	defer cancel()
	if err := s.put("finished", "yes"); err != nil {
		return err
	}
	_, err := s.piped.PutDeploymentPluginMetadata(ctx, &pluginservice.PutDeploymentPluginMetadataRequest{
		DeploymentId: s.deployment, PluginName: plugin, Key: "worked", Value: "yes"})
	return stored(err)
}
