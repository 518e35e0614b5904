// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// A command for a deployment that ended this long ago will never be answered: PipeCD v1 reports an
// approval only with its stage, and a cancellation right after the deployment.
const staleAfter = time.Minute

// commandBook holds the commands that wait and the last ones that were handled.
type commandBook struct {
	byID map[string]*model.Command
	// Waiting commands, the oldest first.
	waiting []*model.Command
	// Handled ones in the order in which they were.
	handled     []*model.Command
	outputs     map[string][]byte
	outputBytes int
	// awaited commands have a channel that is closed when they are handled.
	awaited map[string]chan struct{}
}

// AddCommand stores a command for a piped, tells the piped and returns the command's id. Id,
// project, status and times are filled in. The same request by the same user, still waiting, is
// not stored twice.
func (s *Store) AddCommand(c *model.Command) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addCommand(c)
}

func (s *Store) addCommand(c *model.Command) (string, error) {
	if _, err := s.piped(c.GetPipedId()); err != nil {
		return "", err
	}
	c = proto.CloneOf(c)
	waiting := 0
	for _, w := range s.commands.waiting {
		if w.GetPipedId() != c.GetPipedId() {
			continue
		}
		if waiting++; sameRequest(w, c) {
			return w.GetId(), nil
		}
	}
	if waiting >= s.limits.WaitingCommands {
		return "", exhausted("%d commands wait for piped %s already; is it running?", waiting, c.GetPipedId())
	}
	now := s.now().Unix()
	c.Id, c.ProjectId, c.Status = newID(), s.project, model.CommandStatus_COMMAND_NOT_HANDLED_YET
	c.CreatedAt, c.UpdatedAt = now, now
	s.commands.byID[c.GetId()] = c
	s.commands.waiting = append(s.commands.waiting, c)
	s.keepCommand(c)
	s.signal(c.GetPipedId(), commandsChanged)
	return c.GetId(), nil
}

// Only actions on a stage or deployment are the same when asked for twice; each sync and each plan
// preview is one of its own.
func sameRequest(a, b *model.Command) bool {
	switch a.GetType() {
	case model.Command_CANCEL_DEPLOYMENT:
		return b.GetType() == a.GetType() && a.GetDeploymentId() == b.GetDeploymentId() &&
			proto.Equal(a.GetCancelDeployment(), b.GetCancelDeployment())
	case model.Command_APPROVE_STAGE, model.Command_SKIP_STAGE:
		return b.GetType() == a.GetType() && a.GetDeploymentId() == b.GetDeploymentId() &&
			a.GetStageId() == b.GetStageId() && a.GetCommander() == b.GetCommander()
	}
	return false
}

// Command returns a command and what piped answered to it beside its status; NotFound also when it
// was handled so long ago that it is forgotten.
func (s *Store) Command(id string) (*model.Command, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.commands.byID[id]
	if c == nil {
		return nil, nil, notFound("Command is not found")
	}
	return proto.CloneOf(c), s.commands.outputs[id], nil
}

// WaitingCommands returns the piped's commands that are not handled, the oldest first. Those whose
// deployment ended a while ago are timed out instead.
func (s *Store) WaitingCommands(pipedID string) []*model.Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if p := s.pipeds[pipedID]; p != nil && len(p.watches) == 0 && !p.polls {
		before := p.shownPlugins()
		p.polls = true
		s.publishPlugins(p, before)
	}
	var found []*model.Command
	for _, c := range slices.Clone(s.commands.waiting) {
		if c.GetPipedId() != pipedID {
			continue
		}
		if d := s.deployments[c.GetDeploymentId()]; d != nil && !d.completed.IsZero() && now.Sub(d.completed) > staleAfter || stalePreview(c, now) {
			s.timeOut(c)
			continue
		}
		found = append(found, proto.CloneOf(c))
	}
	return found
}

// ApprovalsWaiting returns who has approved a stage without piped having taken it into account.
func (s *Store) ApprovalsWaiting(deploymentID, stageID string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, c := range s.commands.waiting {
		if c.GetType() == model.Command_APPROVE_STAGE && c.GetDeploymentId() == deploymentID && c.GetStageId() == stageID {
			names = append(names, c.GetCommander())
		}
	}
	return names
}

// HandledCommand is piped's answer to a command.
type HandledCommand struct {
	ID        string
	Status    model.CommandStatus
	Metadata  map[string]string
	HandledAt int64
	Output    []byte
}

// ReportHandled stores the answer. The first one counts; later ones are accepted and dropped.
func (s *Store) ReportHandled(pipedID string, h HandledCommand) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.commands.byID[h.ID]
	if c == nil {
		return notFound("Command is not found")
	}
	if c.GetPipedId() != pipedID {
		return denied("command %s belongs to another piped", h.ID)
	}
	if c.GetStatus() != model.CommandStatus_COMMAND_NOT_HANDLED_YET || h.Status == model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		return nil
	}
	c.Status, c.HandledAt, c.UpdatedAt = h.Status, h.HandledAt, s.now().Unix()
	c.Metadata = maps.Clone(h.Metadata)
	s.fileHandled(c, h.Output)
	if c.GetType() == model.Command_CHAIN_SYNC_APPLICATION && h.Status != model.CommandStatus_COMMAND_SUCCEEDED {
		s.refuseChain(c)
	}
	return nil
}

// fileHandled moves a command to the handled ones and forgets the oldest beyond the limits.
func (s *Store) fileHandled(c *model.Command, output []byte) {
	b := &s.commands
	b.waiting = slices.DeleteFunc(b.waiting, func(w *model.Command) bool { return w == c })
	if awaited := b.awaited[c.GetId()]; awaited != nil {
		close(awaited)
		delete(b.awaited, c.GetId())
	}
	b.handled = append(b.handled, c)
	s.keepCommand(c)
	if len(output) > 0 {
		if b.outputs == nil {
			b.outputs = map[string][]byte{}
		}
		b.outputs[c.GetId()] = slices.Clone(output)
		b.outputBytes += len(output)
	}
	for len(b.handled) > s.limits.HandledCommands || (b.outputBytes > s.limits.OutputBytes && len(b.handled) > 1) {
		id := b.handled[0].GetId()
		b.outputBytes -= len(b.outputs[id])
		delete(b.outputs, id)
		delete(b.byID, id)
		b.handled = slices.Delete(b.handled, 0, 1)
	}
}
