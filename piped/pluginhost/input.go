// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// input is what a call asks of a plugin. It leaves out what differs from run to run, such as the id of the deployment.
type input struct {
	key     inputKey
	subject subject
}

// inputKey identifies an input: calls with the same one are expected to end the same way.
type inputKey [sha256.Size]byte

// subject is what an input is about, whatever the commit and the options are.
type subject struct {
	// work names it for users: "stage WAIT".
	work string
	// application is a name; empty when the call does not name one.
	application string
	// id is the same for inputs about the same.
	id string
}

func (s subject) String() string {
	if s.application == "" {
		return s.work
	}
	return s.work + " of the application " + s.application
}

// inputOf returns false for calls that are not counted.
func inputOf(method string, request any) (in input, ok bool) {
	message, ok := request.(proto.Message)
	if !ok || !outlasts(method) {
		return in, false
	}
	switch request := message.(type) {
	case *deployment.ExecuteStageRequest:
		d, stage := request.GetInput().GetDeployment(), request.GetInput().GetStage()
		in.key = keyOf(d.GetApplicationId(), stage.GetName(), string(request.GetInput().GetStageConfig()),
			request.GetInput().GetTargetDeploymentSource().GetCommitHash(), method)
		// A rollback stage has the index of the stage that it rolls back.
		in.subject.about("stage "+stage.GetName(), d, method, fmt.Sprint(stage.GetIndex(), stage.GetRollback()))
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		d := request.GetInput().GetDeployment()
		commit := request.GetInput().GetTargetDeploymentSource().GetCommitHash()
		in.key = keyOf(d.GetApplicationId(), commit, method)
		in.subject.about("planning", d, method)
	default:
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
		if err != nil {
			return in, false
		}
		in.key = keyOf(string(data), method)
		if application, named := message.(application); named {
			in.subject.about(workOf(method), application, method)
		} else {
			in.subject = subject{work: workOf(method), id: string(in.key[:])}
		}
	}
	return in, true
}

// application is a message that is about one application.
type application interface {
	GetApplicationId() string
	GetApplicationName() string
}

func (s *subject) about(work string, a application, id ...string) {
	s.work, s.application = work, cmp.Or(a.GetApplicationName(), a.GetApplicationId())
	s.id = strings.Join(append(id, a.GetApplicationId()), " ")
}

// workOf names for users what a method does, but for ExecuteStage.
func workOf(method string) string {
	switch service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/"); service {
	case deployment.DeploymentService_ServiceDesc.ServiceName:
		return "planning"
	case livestate.LivestateService_ServiceDesc.ServiceName:
		return "live state"
	default:
		return "plan preview"
	}
}

func keyOf(parts ...string) inputKey {
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return inputKey(hash.Sum(nil))
}

// inputs are those of the calls that a process works on.
type inputs struct {
	mu    sync.Mutex
	count map[input]int
}

func (i *inputs) begin(in input) (end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.count == nil {
		i.count = map[input]int{}
	}
	i.count[in]++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.count[in]--; i.count[in] == 0 {
			delete(i.count, in)
		}
	}
}

func (i *inputs) running() []input {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make([]input, 0, len(i.count))
	for in := range i.count {
		all = append(all, in)
	}
	return all
}
