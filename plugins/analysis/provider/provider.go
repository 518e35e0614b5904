// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
)

// Range is the time that a query asks about, both ends included.
type Range struct {
	From, To time.Time
	// Step is the time between two samples. It is more than 0.
	Step time.Duration
	// AnyStep is whether Step is a default that a service may replace.
	AnyStep bool
}

// Point is one sample.
type Point struct {
	At    time.Time
	Value float64
}

// Answer is what a query has found.
type Answer struct {
	// Series is how many series there are, those without values included.
	Series int
	// Points are the samples of all series, one series after the other. None of them is NaN.
	Points []Point
	// Starts are where the samples of each series begin in Points. Only services give them that repeat a sample at each
	// step until there is a newer one.
	Starts []int
	// NotNumbers is how many samples were NaN, such as a rate of nothing, and are left out.
	NotNumbers int
	// Outside is how many samples are not of the time that was asked about, and are left out.
	Outside int
	// Warnings are remarks of the service.
	Warnings []string

	// from and to bound the samples that count.
	from, to time.Time
}

// within has only samples of the range count, and those up to slack around it: services move ends to whole steps.
func (a *Answer) within(at Range, slack time.Duration) {
	a.from, a.to = at.From.Add(-slack), at.To.Add(slack)
}

// Values are the samples without their times.
func (a *Answer) Values() []float64 {
	values := make([]float64, 0, len(a.Points))
	for _, p := range a.Points {
		values = append(values, p.Value)
	}
	return values
}

// Held are the values of each series whose samples may be repeated; none where no service repeats them.
func (a *Answer) Held() [][]float64 {
	values, held := a.Values(), make([][]float64, 0, len(a.Starts))
	for i, start := range a.Starts {
		end := len(values)
		if i+1 < len(a.Starts) {
			end = a.Starts[i+1]
		}
		held = append(held, values[start:end])
	}
	return held
}

// add adds a sample.
func (a *Answer) add(at time.Time, value float64) {
	switch {
	case at.Before(a.from) || at.After(a.to):
		a.Outside++
		return
	case math.IsNaN(value):
		a.NotNumbers++
		return
	}
	a.Points = append(a.Points, Point{at, value})
}

// Metrics answers queries of numbers. It may be used by several goroutines.
type Metrics interface {
	Query(ctx context.Context, query string, at Range) (*Answer, error)
	// Close ends connections that are not in use.
	Close()
}

// Entries are what a query of logs has found.
type Entries struct {
	Count int
	// More is whether there are more than were counted.
	More bool
	// Newest is when the newest was written; the zero time when there is none.
	Newest time.Time
}

// Logs counts entries of logs. It may be used by several goroutines.
type Logs interface {
	// Count counts the entries from the start of the range, included, to its end. It may stop at enough.
	Count(ctx context.Context, query string, at Range, enough int) (Entries, error)
}

// NewMetrics returns the provider as it is configured. One that can be asked for logs is [Logs], too.
func NewMetrics(p *config.Provider) (Metrics, error) {
	switch p.Type {
	case config.Prometheus:
		c, err := p.Prometheus()
		if err != nil {
			return nil, fmt.Errorf("analysis provider %s: %w", p.Name, err)
		}
		return newPrometheus(c)
	case config.Datadog:
		c, err := p.Datadog()
		if err != nil {
			return nil, fmt.Errorf("analysis provider %s: %w", p.Name, err)
		}
		return newDatadog(c)
	case config.Stackdriver:
		c, err := p.Stackdriver()
		if err != nil {
			return nil, fmt.Errorf("analysis provider %s: %w", p.Name, err)
		}
		return newStackdriver(c)
	case config.CloudWatch:
		c, err := p.CloudWatch()
		if err != nil {
			return nil, fmt.Errorf("analysis provider %s: %w", p.Name, err)
		}
		return newCloudWatch(c), nil
	}
	return nil, fmt.Errorf("analysis provider %s: the plugin cannot query metrics of the type %s", p.Name, p.Type)
}
