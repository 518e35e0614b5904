// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"sync"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// maxOpenQuestions bounds the users who look at calls of plugins at the same time, followers among them.
const maxOpenQuestions = 64

// PluginCalls brings users who ask for the calls of plugins together with the pipeds that answer. It keeps no call.
type PluginCalls struct {
	pipeds *Pipeds

	mu   sync.Mutex
	last uint64
	open map[uint64]*PluginCallQuestion
}

// PluginCallQuestion is a question to one piped.
type PluginCallQuestion struct {
	calls   *PluginCalls
	id      uint64
	pipedID string
	answers chan []*agentv1.PluginCall
	// answered is closed when the answer is whole, or its piped is gone.
	answered chan struct{}
	closed   chan struct{}
	finish   func()
}

func newPluginCalls(pipeds *Pipeds) *PluginCalls {
	return &PluginCalls{pipeds: pipeds, open: map[uint64]*PluginCallQuestion{}}
}

// Ask asks every connected piped that can answer. The caller closes the questions. FailedPrecondition when there is no
// such piped, ResourceExhausted with too many questions. The id of what is asked does not count.
func (c *PluginCalls) Ask(asked *agentv1.PluginCallQuestion) (questions []*PluginCallQuestion, err error) {
	for _, id := range answering(c.pipeds) {
		q, err := c.add(id)
		if err != nil {
			closeAll(questions)
			return nil, err
		}
		if !c.pipeds.signals.ask(id, &agentv1.PluginCallQuestion{
			Id: q.id, Filter: asked.GetFilter(), Follow: asked.GetFollow(), Messages: asked.GetMessages(),
		}) {
			q.Close()
			continue
		}
		questions = append(questions, q)
	}
	if len(questions) == 0 {
		return nil, precondition("no piped that records calls is connected; see what it does with: pipedeck status")
	}
	return questions, nil
}

func closeAll(questions []*PluginCallQuestion) {
	for _, q := range questions {
		q.Close()
	}
}

func (c *PluginCalls) add(pipedID string) (*PluginCallQuestion, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxOpenQuestions {
		return nil, exhausted("%d users look at the calls of plugins already", len(c.open))
	}
	c.last++
	q := &PluginCallQuestion{calls: c, id: c.last, pipedID: pipedID, answers: make(chan []*agentv1.PluginCall),
		answered: make(chan struct{}), closed: make(chan struct{})}
	q.finish = sync.OnceFunc(func() { close(q.answered) })
	c.open[q.id] = q
	return q, nil
}

// Question returns an open question that was put to the piped; nil for none.
func (c *PluginCalls) Question(id uint64, pipedID string) *PluginCallQuestion {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.open[id]; q != nil && q.pipedID == pipedID {
		return q
	}
	return nil
}

// Close says that no one waits for the answer any longer.
func (q *PluginCallQuestion) Close() {
	q.calls.mu.Lock()
	defer q.calls.mu.Unlock()
	if q.calls.open[q.id] == q {
		delete(q.calls.open, q.id)
		close(q.closed)
	}
}

// PipedID is the id of the piped that is asked.
func (q *PluginCallQuestion) PipedID() string { return q.pipedID }

// Closed is closed when no one waits for the answer any longer.
func (q *PluginCallQuestion) Closed() <-chan struct{} { return q.closed }

// Give hands over a part of the answer. It waits for the user; false when there is none any longer.
func (q *PluginCallQuestion) Give(ctx context.Context, calls []*agentv1.PluginCall) bool {
	select {
	case q.answers <- calls:
		return true
	case <-q.closed:
	case <-ctx.Done():
	}
	return false
}

// Finish says that the answer is whole.
func (q *PluginCallQuestion) Finish() { q.finish() }

// Next returns the next part of the answer; false when it is whole or ctx has ended.
func (q *PluginCallQuestion) Next(ctx context.Context) ([]*agentv1.PluginCall, bool) {
	select {
	case calls := <-q.answers:
		return calls, true
	case <-q.answered:
	case <-ctx.Done():
	}
	return nil, false
}

// answering returns the ids of the connected pipeds that answer questions about calls.
func answering(p *Pipeds) (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.inOrder() {
		if one.able.AnswersPluginCalls && p.signals.connected(one.model.GetId()) {
			ids = append(ids, one.model.GetId())
		}
	}
	return ids
}
