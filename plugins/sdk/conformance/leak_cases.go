// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
)

// rounds is how often a stage is run to see what it leaves behind.
const rounds = 24

// leaksAtOnce is how many of them run at once.
const leaksAtOnce = 8

func leakCases() []Case {
	const why = "the plugin serves for weeks, and fails when the machine has no more of them"
	return []Case{{
		ID: "leaks.descriptors", Capability: Process, Why: why,
		Title: fmt.Sprintf("open files do not grow with the stages (%d of them)", rounds),
		Next:  "close files and connections of a stage when it ends",
		run:   func(p *probe) error { return grows(p, keptFiles) },
	}, {
		ID: "leaks.threads", Capability: Process, Why: why,
		Title: fmt.Sprintf("threads do not grow with the stages (%d of them)", rounds),
		Next:  "end the threads of a stage when it ends",
		run:   func(p *probe) error { return grows(p, keptThreads) },
	}, {
		ID: "leaks.goroutines", Capability: Process, Why: why,
		Title: fmt.Sprintf("goroutines do not grow with the stages (%d of them), where the plugin counts them", rounds),
		Next:  "wait for the goroutines of a stage before its answer",
		run:   func(p *probe) error { return grows(p, keptGoroutines) },
	}}
}

// goroutines is what the SDK reports next to its health.
func goroutines(p *probe, x *session) (int, bool) {
	ctx, cancel := p.limit()
	defer cancel()
	var trailer metadata.MD
	_, err := grpc_health_v1.NewHealthClient(x.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{},
		grpc.Trailer(&trailer))
	counts := trailer.Get("pipedeck-goroutines")
	if err != nil || len(counts) == 0 {
		return 0, false
	}
	count, err := strconv.Atoi(counts[0])
	return count, err == nil
}

// stagesOf runs the stage some times, a few at once unless its targets are shared.
func stagesOf(p *probe, x *session, count int) error {
	slots := make(chan struct{}, leaksAtOnce)
	var running sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range count {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			if _, err := x.execute(p, order{}); err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	running.Wait()
	if died := x.alive(); died != nil {
		return died
	}
	return failed
}

// manyStages starts a session in which the stage can be run many times. The first stages of it make what is made once.
func manyStages(p *probe) (*session, error) {
	first, err := p.settled()
	if err != nil {
		return nil, err
	}
	const slow = 3 * time.Second
	if len(p.suite.options.Settings.DeployTargets) > 0 {
		return nil, skip("its deploy targets are shared, so its stages run one after another here")
	}
	if first.took > slow {
		return nil, skip("the stage takes too long to be run %d times", rounds)
	}
	x, err := p.start(setup{})
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := stagesOf(p, x, leaksAtOnce); err != nil {
		return nil, err
	}
	if time.Since(began) > 2*slow {
		return nil, skip("the stage takes too long to be run %d times", rounds)
	}
	return x, nil
}

// grows compares a count before and after some stages. A third of them may leave something: pools fill.
func grows(p *probe, kind keptKind) error {
	x, err := manyStages(p)
	if err != nil {
		return err
	}
	before, ok := kind.count(p, x)
	if !ok {
		return skip("%s are not seen here", kind.what)
	}
	err = piles(p, x, pile{what: "stages", times: rounds, some: rounds / 3, of: []keptKind{kind}}, func() error {
		return stagesOf(p, x, rounds)
	})
	if err == nil {
		after, _ := kind.count(p, x)
		p.saw("%d before, %d after", before, after)
	}
	return err
}
