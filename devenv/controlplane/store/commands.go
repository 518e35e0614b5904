// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// A command for a deployment that ended this long ago will never be answered: PipeCD v1 reports an
// approval only with its stage, and a cancellation right after the deployment.
const staleAfter = time.Minute

// Commands are the commands that wait for pipeds, and the last ones that were handled.
type Commands struct {
	ledger  *ledger
	pipeds  *Pipeds
	chains  *chains
	signals *signals
	// ended returns when a deployment ended; zero when it has not. It is called without mu.
	ended func(deployment string) time.Time

	mu   sync.Mutex
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

func newCommands(l *ledger, p *Pipeds, c *chains, s *signals) *Commands {
	commands := &Commands{ledger: l, pipeds: p, chains: c, signals: s}
	commands.clear()
	return commands
}

// clear forgets all commands. The store is frozen.
func (c *Commands) clear() {
	c.byID, c.waiting, c.handled = map[string]*model.Command{}, nil, nil
	c.outputs, c.outputBytes, c.awaited = map[string][]byte{}, 0, map[string]chan struct{}{}
}

// Add stores a command for a piped, notifies the piped and returns the command's id. Id,
// project, status and times are filled in. The same request by the same user, still waiting, is
// not stored twice.
func (c *Commands) Add(command *model.Command) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.pipeds.exists(command.GetPipedId()); err != nil {
		return "", err
	}
	command = proto.CloneOf(command)
	waiting := 0
	for _, w := range c.waiting {
		if w.GetPipedId() != command.GetPipedId() {
			continue
		}
		if waiting++; sameRequest(w, command) {
			return w.GetId(), nil
		}
	}
	if waiting >= c.ledger.limits.WaitingCommands {
		return "", exhausted("%d commands wait for piped %s already; is it running?", waiting, command.GetPipedId())
	}
	now := c.ledger.now().Unix()
	command.Id, command.ProjectId = newID(), c.ledger.project
	command.Status, command.CreatedAt, command.UpdatedAt = model.CommandStatus_COMMAND_NOT_HANDLED_YET, now, now
	c.byID[command.GetId()] = command
	c.waiting = append(c.waiting, command)
	c.keep(command)
	c.signals.mark(command.GetPipedId(), commandsChanged)
	return command.GetId(), nil
}

// Only actions on a stage or deployment are the same when asked for twice; each sync of the newest commit and each plan
// preview is a separate command.
func sameRequest(a, b *model.Command) bool {
	switch a.GetType() {
	case model.Command_SYNC_APPLICATION:
		return isPast(a) && b.GetType() == a.GetType() && a.GetApplicationId() == b.GetApplicationId() &&
			maps.Equal(a.GetMetadata(), b.GetMetadata())
	case model.Command_CANCEL_DEPLOYMENT:
		return b.GetType() == a.GetType() && a.GetDeploymentId() == b.GetDeploymentId() &&
			proto.Equal(a.GetCancelDeployment(), b.GetCancelDeployment())
	case model.Command_APPROVE_STAGE, model.Command_SKIP_STAGE:
		return b.GetType() == a.GetType() && a.GetDeploymentId() == b.GetDeploymentId() &&
			a.GetStageId() == b.GetStageId() && a.GetCommander() == b.GetCommander() &&
			maps.Equal(a.GetMetadata(), b.GetMetadata())
	}
	return false
}

// Get returns a command and what piped answered to it besides its status; NotFound also when it
// was handled so long ago that it is forgotten.
func (c *Commands) Get(id string) (*model.Command, []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.byID[id]
	if found == nil {
		return nil, nil, errNoCommand
	}
	return proto.CloneOf(found), c.outputs[id], nil
}

// errNoCommand has PipeCD's words.
var errNoCommand = notFound("Command is not found")

// Waiting returns the piped's commands that are not handled, the oldest first. Those whose
// deployment ended a while ago are timed out instead. Those for an earlier commit and removals are held back from a
// piped that would deploy the newest.
func (c *Commands) Waiting(pipedID string) (found []*model.Command) {
	c.pipeds.polled(pipedID)
	now, able := c.ledger.now(), c.pipeds.able(pipedID)
	for _, waiting := range c.waitingFor(pipedID) {
		ended := c.ended(waiting.GetDeploymentId())
		if !ended.IsZero() && now.Sub(ended) > staleAfter || stalePreview(waiting, now) {
			c.timeOut(waiting.GetId())
			continue
		}
		if isPast(waiting) && !able.DeploysCommits || isRemoval(waiting) && !able.RemovesApplications {
			continue
		}
		found = append(found, waiting)
	}
	return found
}

func (c *Commands) waitingFor(pipedID string) (found []*model.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, waiting := range c.waiting {
		if waiting.GetPipedId() == pipedID {
			found = append(found, proto.CloneOf(waiting))
		}
	}
	return found
}

// Approvals returns the users who have approved a stage and whose approvals piped has not handled yet.
func (c *Commands) Approvals(deploymentID, stageID string) (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waiting {
		if w.GetType() == model.Command_APPROVE_STAGE && w.GetDeploymentId() == deploymentID &&
			w.GetStageId() == stageID {
			names = append(names, w.GetCommander())
		}
	}
	return names
}

// Await returns a channel that is closed once the command is handled, which it may be already.
func (c *Commands) Await(id string) (<-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.byID[id]
	if found == nil {
		return nil, errNoCommand
	}
	if found.GetStatus() != model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		done := make(chan struct{})
		close(done)
		return done, nil
	}
	if c.awaited[id] == nil {
		c.awaited[id] = make(chan struct{})
	}
	return c.awaited[id], nil
}

// GiveUp withdraws a command that no one waits for any more. One that was handled stays as it is.
func (c *Commands) GiveUp(id string) {
	if withdrawn := c.timeOut(id); withdrawn != nil {
		c.signals.mark(withdrawn.GetPipedId(), commandsChanged)
	}
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
func (c *Commands) ReportHandled(pipedID string, h HandledCommand) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	answered := c.byID[h.ID]
	if answered == nil {
		return errNoCommand
	}
	if answered.GetPipedId() != pipedID {
		return denied("command %s belongs to another piped", h.ID)
	}
	const open = model.CommandStatus_COMMAND_NOT_HANDLED_YET
	if answered.GetStatus() != open || h.Status == open {
		return nil
	}
	answered.Status, answered.HandledAt, answered.UpdatedAt = h.Status, h.HandledAt, c.ledger.now().Unix()
	answered.Metadata = maps.Clone(h.Metadata)
	c.file(answered, h.Output)
	if answered.GetType() == model.Command_CHAIN_SYNC_APPLICATION && h.Status != model.CommandStatus_COMMAND_SUCCEEDED {
		c.chains.refuse(answered.GetChainSyncApplication(), h.Metadata["Reason"])
	}
	return nil
}

// timeOut files a command that still waits as timed out, and returns it; nil when it does not wait.
func (c *Commands) timeOut(id string) *model.Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := c.byID[id]
	if late == nil || late.GetStatus() != model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		return nil
	}
	now := c.ledger.now().Unix()
	late.Status, late.HandledAt, late.UpdatedAt = model.CommandStatus_COMMAND_TIMEOUT, now, now
	c.file(late, nil)
	return late
}

// file moves a command to the handled ones and forgets the oldest beyond the limits.
func (c *Commands) file(done *model.Command, output []byte) {
	c.forget(done)
	if awaited := c.awaited[done.GetId()]; awaited != nil {
		close(awaited)
		delete(c.awaited, done.GetId())
	}
	c.handled = append(c.handled, done)
	c.keep(done)
	if len(output) > 0 {
		c.outputs[done.GetId()] = slices.Clone(output)
		c.outputBytes += len(output)
	}
	limits := c.ledger.limits
	for len(c.handled) > limits.HandledCommands || c.outputBytes > limits.OutputBytes && len(c.handled) > 1 {
		id := c.handled[0].GetId()
		c.outputBytes -= len(c.outputs[id])
		delete(c.outputs, id)
		delete(c.byID, id)
		c.handled = slices.Delete(c.handled, 0, 1)
	}
}

// forget removes a command from those that wait.
func (c *Commands) forget(command *model.Command) {
	c.waiting = slices.DeleteFunc(c.waiting, func(w *model.Command) bool { return w.GetId() == command.GetId() })
}

func (c *Commands) keep(command *model.Command) {
	c.ledger.keep(func() journal.Record { return commandRecord(command) })
}

func commandRecord(c *model.Command) journal.Record {
	return journal.Record{Kind: journal.Command, ID: c.GetId(), Model: encode(c)}
}

// records emits what the journal keeps. The store is frozen.
func (c *Commands) records(emit func(journal.Record)) {
	for _, waiting := range c.waiting {
		emit(commandRecord(waiting))
	}
}

func (c *Commands) restore(r journal.Record) error {
	command := &model.Command{}
	if err := c.ledger.decode(r, command); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(command)
	delete(c.byID, command.GetId())
	if command.GetStatus() == model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		c.waiting = append(c.waiting, command)
		c.byID[command.GetId()] = command
	}
	return nil
}

// lost drops a command that may have been handled. It returns a name of it for users.
func (c *Commands) lost(r journal.Record) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	dropped := c.byID[r.ID]
	if dropped == nil {
		return ""
	}
	c.forget(dropped)
	delete(c.byID, r.ID)
	return r.String() + " (" + dropped.GetType().String() + " by " + dropped.GetCommander() + ", dropped)"
}
