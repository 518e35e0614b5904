// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// maxAnswers bounds the questions that are answered at the same time, those of followers among them.
const maxAnswers = 32

// Client is how an Answerer reaches the control plane.
type Client interface {
	AnswerPluginCalls(ctx context.Context, opts ...grpc.CallOption) (
		grpc.ClientStreamingClient[agentv1.AnswerPluginCallsRequest, agentv1.AnswerPluginCallsResponse], error)
}

// Answerer answers the questions of the control plane about calls.
type Answerer struct {
	log     *Log
	client  Client
	logger  *slog.Logger
	answers sync.WaitGroup
	room    chan struct{}
}

// NewAnswerer creates an Answerer.
func NewAnswerer(log *Log, client Client, logger *slog.Logger) *Answerer {
	return &Answerer{log: log, client: client, logger: logger, room: make(chan struct{}, maxAnswers)}
}

// Answer begins to answer a question, until it is answered, no one waits any longer, or ctx ends. With too many
// questions it does nothing.
func (a *Answerer) Answer(ctx context.Context, question *agentv1.PluginCallQuestion) {
	select {
	case a.room <- struct{}{}:
	default:
		a.logger.Warn("too many questions about the calls of plugins at the same time", "most", maxAnswers)
		return
	}
	a.answers.Go(func() {
		defer func() { <-a.room }()
		if err := a.answer(ctx, question); err != nil && ctx.Err() == nil {
			a.logger.Debug("a question about the calls of plugins was not answered", "error", err)
		}
	})
}

// Wait returns when no answer is under way.
func (a *Answerer) Wait() { a.answers.Wait() }

func (a *Answerer) answer(ctx context.Context, question *agentv1.PluginCallQuestion) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := a.client.AnswerPluginCalls(ctx)
	if err != nil {
		return err
	}
	for version, more := uint64(0), false; ; {
		answer := &agentv1.AnswerPluginCallsRequest{Question: question.GetId()}
		answer.Calls, version, more = a.log.Select(question.GetFilter(), version, question.GetMessages())
		if err := stream.Send(answer); errors.Is(err, io.EOF) {
			_, err = stream.CloseAndRecv() // no one waits any longer
			return err
		} else if err != nil {
			return err
		}
		switch {
		case more:
		case !question.GetFollow():
			_, err = stream.CloseAndRecv()
			return err
		default:
			if err := a.log.Await(stream.Context(), version); err != nil {
				return err
			}
		}
	}
}
