// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// probe is what a case is run with.
type probe struct {
	ctx   context.Context
	suite *suite
	// seen is what a passed case reports.
	seen string
	// alone has shared return a session of this case.
	alone bool
	used  *session
	own   []*session
}

// saw sets what a passed case reports.
func (p *probe) saw(format string, args ...any) { p.seen = fmt.Sprintf(format, args...) }

// shared returns the session that several cases use at once.
func (p *probe) shared() (*session, error) {
	if p.used != nil {
		return p.used, nil
	}
	var err error
	if p.alone {
		p.used, err = p.start(setup{})
		return p.used, err
	}
	p.used, err = p.suite.sharedSession(p.ctx)
	return p.used, err
}

// start returns a session of this case, which ends with it.
func (p *probe) start(how setup) (*session, error) {
	x, err := p.suite.start(p.ctx, how)
	if err != nil {
		return nil, err
	}
	p.own = append(p.own, x)
	return x, nil
}

// limit bounds a question that needs no work.
func (p *probe) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.ctx, p.suite.bounds.Answer)
}

func (p *probe) close() error {
	var errs []error
	for _, x := range p.own {
		errs = append(errs, x.close())
	}
	return errors.Join(errs...)
}

// pause lets time pass in which nothing may happen.
func (p *probe) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	}
}
