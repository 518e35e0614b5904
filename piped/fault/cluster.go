// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// The gRPC metadata of ExecuteStage with faults of calls to a cluster, and of its answer with those that have happened.
const (
	givenKey    = "pipedeck-cluster-faults-bin"
	happenedKey = "pipedeck-cluster-faults"
)

// maxGiven bounds the faults of one attempt: with the longest target they fit the header of a call.
const maxGiven = 100

// Given are the faults of calls to a cluster that a plugin gets with an attempt at a stage. The methods of nil, which
// is none, may be called.
type Given struct {
	set    *Set
	rules  []*rule
	faults []*action
	// texts are what users read of each, message what the plugin gets.
	texts    []string
	message  *deployment.ClusterFaults
	happened []string
	settled  bool
	// answered says that the plugin has reported what has happened.
	answered bool
}

var kinds = map[string]deployment.ClusterFault_Action{
	delay:       deployment.ClusterFault_ACTION_DELAY,
	unavailable: deployment.ClusterFault_ACTION_UNAVAILABLE,
	hang:        deployment.ClusterFault_ACTION_HANG,
	forbidden:   deployment.ClusterFault_ACTION_FORBIDDEN,
	conflict:    deployment.ClusterFault_ACTION_CONFLICT,
}

// Give returns what a plugin gets that has such faults happen; nil for nothing. The caller settles it.
func (s *Set) Give(stage Stage) *Given {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &Given{set: s, message: &deployment.ClusterFaults{}}
	for _, r := range s.rules {
		if r.target != Cluster || !r.fits(stage, r.stage) {
			continue
		}
		for _, one := range r.actions {
			if one.left > 0 && len(g.faults) < maxGiven {
				one.left--
				r.lent++
				g.add(r, one)
			}
		}
	}
	if len(g.faults) == 0 {
		return nil
	}
	s.notify()
	return g
}

func (g *Given) add(r *rule, one *action) {
	fault := &deployment.ClusterFault{
		Number: uint32(len(g.faults)), Text: r.text + ": " + one.text,
		Verb: r.calls.verb, Kind: r.calls.kind, Name: r.calls.name,
		Action: kinds[one.kind], Count: uint32(max(1, one.number)),
	}
	if one.kind == delay {
		fault.Count, fault.Delay = 1, durationpb.New(one.delay)
	}
	g.rules, g.faults, g.texts = append(g.rules, r), append(g.faults, one), append(g.texts, fault.GetText())
	g.message.Faults = append(g.message.Faults, fault)
}

// Context adds what is given to a call of ExecuteStage.
func (g *Given) Context(ctx context.Context) context.Context {
	if g == nil {
		return ctx
	}
	data, err := proto.Marshal(g.message)
	if err != nil {
		return ctx // the texts are those of a rule, in valid UTF-8
	}
	return metadata.AppendToOutgoingContext(ctx, givenKey, string(data))
}

// Settle takes the trailing metadata of the call. What the plugin did not get to happens in another attempt. A plugin
// that ended before it could answer counts as if everything had happened: otherwise the next attempt would meet it
// again.
func (g *Given) Settle(trailer metadata.MD) {
	if g == nil || g.settled {
		return
	}
	g.set.mu.Lock()
	defer g.set.mu.Unlock()
	g.settled = true
	answers := trailer.Get(happenedKey)
	g.answered = len(answers) > 0
	numbers := strings.Split(strings.Join(answers, ","), ",")
	for i, one := range g.faults {
		g.rules[i].lent--
		if len(answers) > 0 && !slices.Contains(numbers, strconv.Itoa(i)) {
			one.left++
			continue
		}
		g.happened = append(g.happened, g.texts[i])
	}
	g.set.forget()
	g.set.notify()
}

// Return gives back what no plugin got.
func (g *Given) Return() {
	if g != nil {
		g.Settle(metadata.Pairs(happenedKey, ""))
	}
}
