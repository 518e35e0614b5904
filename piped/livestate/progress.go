// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

const (
	// defaultLookTimeout bounds a look: a plan of a large configuration in a cloud takes minutes.
	defaultLookTimeout = 10 * time.Minute
	// slowAfter is how long a look lasts until it goes on in the background, and users see it.
	slowAfter = 30 * time.Second
	// maxSlow bounds the looks in the background; others keep the place of one that is not slow.
	maxSlow = 32
	// maxPending bounds what waits to be reported of looks, maxLookError the reason of a failure, in bytes.
	maxPending   = 1000
	maxLookError = 2 << 10
)

var (
	errSlow        = errors.New("the look at the live state took too long")
	errNoLivestate = errors.New("no plugin of the application reports live states")
	errNotDeployed = errors.New("the application was not deployed yet")
	errNotKnown    = errors.New("piped does not deploy such an application, or it is disabled")
)

// Looks is the part of a control plane that takes how looks go; gRPC's Unimplemented says that it does not.
type Looks interface {
	ReportLooks(
		ctx context.Context, r *agentv1.ReportLooksRequest, opts ...grpc.CallOption,
	) (*agentv1.ReportLooksResponse, error)
}

// LookNow has applications looked at as soon as no look at them goes on, because users ask for it. The end of each such
// look is reported.
func (r *Reporter) LookNow(orders []*agentv1.LookOrder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, order := range orders {
		a := r.applications[order.GetApplicationId()]
		if a == nil {
			now := timestamppb.New(r.options.Clock.Now())
			r.pend(&agentv1.Look{ApplicationId: order.GetApplicationId(), Number: order.GetNumber(), StartedAt: now,
				EndedAt: now, Error: errNotKnown.Error()})
			continue
		}
		a.ordered, a.changed = max(a.ordered, order.GetNumber()), true
	}
	r.nudge()
}

// oneLook is a look that goes on.
type oneLook struct {
	application *application
	id          string
	began       time.Time
	// number is that of the last order before it, fresh whether it is for an order.
	number uint64
	fresh  bool
	// slow says that it has lasted for long, and background that it does not count as one of the parallel ones.
	slow, background bool
}

// begin notes that a look begins. It is called with mu held.
func (r *Reporter) begin(a *application, now time.Time) *oneLook {
	a.looking, a.changed, a.last, a.due = true, false, now, time.Time{}
	r.running++
	l := &oneLook{application: a, id: a.model.GetId(), began: now, number: a.ordered, fresh: a.ordered > a.answered}
	a.answered = a.ordered
	return l
}

// watchSlow has a look go on in the background once it has lasted for long; it returns when the look has ended.
func (r *Reporter) watchSlow(l *oneLook, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-r.options.Clock.After(slowAfter):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-ended:
		return
	default:
	}
	l.slow = true
	if r.slow < maxSlow {
		l.background = true
		r.slow++
		r.running--
		r.nudge()
	}
	r.pend(&agentv1.Look{ApplicationId: l.id, Number: l.number, StartedAt: timestamppb.New(l.began)})
}

// end notes that a look has ended. It is called with mu held.
func (r *Reporter) end(l *oneLook, err error) {
	if l.background {
		r.slow--
	} else {
		r.running--
	}
	now := r.options.Clock.Now()
	l.application.looking, l.application.took = false, now.Sub(l.began)
	if l.slow || l.fresh {
		look := &agentv1.Look{ApplicationId: l.id, Number: l.number, StartedAt: timestamppb.New(l.began),
			EndedAt: timestamppb.New(now)}
		if err != nil {
			look.Error = clip.Bytes(plainerror.Text(err), maxLookError)
		}
		r.pend(look)
	}
	r.nudge()
}

// pend has something reported of the looks at an application; it replaces what was not reported yet. It is called with
// mu held.
func (r *Reporter) pend(look *agentv1.Look) {
	if r.options.Looks == nil {
		return
	}
	if _, waits := r.pending[look.GetApplicationId()]; !waits && len(r.pending) >= maxPending {
		return
	}
	r.pending[look.GetApplicationId()] = look
	select {
	case r.pended <- struct{}{}:
	default:
	}
}

// reportLooks reports how looks go until ctx ends.
func (r *Reporter) reportLooks(ctx context.Context) {
	backoff := clock.NewBackoff(firstPause, longestPause)
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.pended:
		}
		for ctx.Err() == nil {
			looks := r.takePending()
			if len(looks) == 0 {
				break
			}
			_, err := r.options.Looks.ReportLooks(ctx, &agentv1.ReportLooksRequest{Looks: looks})
			if err == nil || status.Code(err) == codes.Unimplemented {
				backoff.Reset()
				continue
			}
			r.putBack(looks)
			_ = backoff.Wait(ctx, r.options.Clock) // the loop ends with ctx
		}
	}
}

func (r *Reporter) takePending() (looks []*agentv1.Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, look := range r.pending {
		looks = append(looks, look)
	}
	clear(r.pending)
	return looks
}

// putBack keeps what could not be reported, unless there is news.
func (r *Reporter) putBack(looks []*agentv1.Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, look := range looks {
		if _, newer := r.pending[look.GetApplicationId()]; !newer {
			r.pending[look.GetApplicationId()] = look
		}
	}
}
