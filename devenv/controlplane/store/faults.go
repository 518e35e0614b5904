// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

const (
	// faultAnswerLimit is the time that a piped has to do what a user wants of faults.
	faultAnswerLimit = 10 * time.Second
	// maxFaultOrders bounds the users who change faults at the same time, maxPipedFaults what a piped reports.
	maxFaultOrders = 64
	maxPipedFaults = 200
)

// Faults passes what users want of faults on to pipeds, which hold the faults.
type Faults struct {
	pipeds *Pipeds

	mu   sync.Mutex
	last uint64
	open map[uint64]faultOrder
}

// faultOrder waits for the answer of a piped.
type faultOrder struct {
	pipedID string
	answer  chan *agentv1.FaultAnswer
}

func newFaults(pipeds *Pipeds) *Faults { return &Faults{pipeds: pipeds, open: map[uint64]faultOrder{}} }

// Takers returns the ids of the connected pipeds that take faults; FailedPrecondition when there is none.
func (f *Faults) Takers() ([]string, error) {
	f.pipeds.mu.Lock()
	defer f.pipeds.mu.Unlock()
	var ids []string
	for _, one := range f.pipeds.inOrder() {
		if takesFaults(f.pipeds, one) {
			ids = append(ids, one.model.GetId())
		}
	}
	if len(ids) == 0 {
		return nil, precondition("no piped that takes faults is connected; see what it does with: pipedeck status")
	}
	return ids, nil
}

// Order passes an order on to a piped and waits for its answer. The id of the order does not count. InvalidArgument
// with what is wrong with a rule; FailedPrecondition when the piped is not connected; DeadlineExceeded when it does not
// answer.
func (f *Faults) Order(ctx context.Context, pipedID string, order *agentv1.FaultOrder) ([]*agentv1.Fault, error) {
	id, waiting, err := f.add(pipedID)
	if err != nil {
		return nil, err
	}
	defer f.close(id)
	if !f.pipeds.signals.order(pipedID, &agentv1.FaultOrder{
		Id: id, Rule: order.GetRule(), ApplicationId: order.GetApplicationId(), Remove: order.GetRemove(),
	}) {
		return nil, precondition("piped %s is not connected; see what it does with: pipedeck status", pipedID)
	}
	ctx, cancel := context.WithTimeout(ctx, faultAnswerLimit)
	defer cancel()
	select {
	case answer := <-waiting:
		if answer.GetProblem() != "" {
			return nil, invalid("%s", answer.GetProblem())
		}
		return answer.GetFaults(), nil
	case <-ctx.Done():
		return nil, &Error{codes.DeadlineExceeded, "piped did not answer within " + faultAnswerLimit.String() +
			"; see what it does with: pipedeck status"}
	}
}

func (f *Faults) add(pipedID string) (uint64, <-chan *agentv1.FaultAnswer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.open) >= maxFaultOrders {
		return 0, nil, exhausted("%d users change faults already", len(f.open))
	}
	f.last++
	answer := make(chan *agentv1.FaultAnswer, 1)
	f.open[f.last] = faultOrder{pipedID: pipedID, answer: answer}
	return f.last, answer, nil
}

func (f *Faults) close(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, id)
}

// Report replaces the faults of a piped, and passes its answers on.
func (f *Faults) Report(pipedID string, r *agentv1.ReportFaultsRequest) error {
	if err := f.keep(pipedID, r.GetFaults()); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, answer := range r.GetAnswers() {
		if order, is := f.open[answer.GetOrder()]; is && order.pipedID == pipedID {
			select {
			case order.answer <- answer:
			default: // it has one
			}
		}
	}
	return nil
}

// keep keeps and publishes the faults that wait at a piped.
func (f *Faults) keep(id string, faults []*agentv1.Fault) error {
	p := f.pipeds
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(id)
	if err != nil {
		return err
	}
	one.faults = slices.Clone(faults[:min(len(faults), maxPipedFaults)])
	p.changed(one)
	return nil
}

// takesFaults reports whether a piped is connected that takes faults. The caller holds p.mu.
func takesFaults(p *Pipeds, one *piped) bool {
	return one.able.TakesFaults && p.signals.connected(one.model.GetId())
}

// PipedFaults are the faults that wait at a piped.
type PipedFaults struct {
	ID     string
	Faults []*agentv1.Fault
}

// List returns the faults that wait at the connected pipeds.
func (f *Faults) List() (all []PipedFaults) {
	p := f.pipeds
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.inOrder() {
		if takesFaults(p, one) {
			all = append(all, PipedFaults{one.model.GetId(), slices.Clone(one.faults)})
		}
	}
	return all
}
