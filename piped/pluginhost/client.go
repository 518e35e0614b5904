// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// exitNotice is how long a broken connection may precede the news of the process's end.
const exitNotice = 2 * time.Second

// caller makes the calls to a plugin, each to the process that answers at that moment.
type caller struct {
	plugin    string
	condition *condition
	builds    *builds
	suspicion *suspicion
	// service learns which deployment a call gives to the plugin; nil for none.
	service Service
	ender   ender
}

var _ grpc.ClientConnInterface = (*caller)(nil)

// Invoke makes one call to the present process. When the process ends during the call the error is an
// ExitError, without one a NotRunningError; both are Unavailable.
func (c *caller) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	defer waitsFor(ctx, c.plugin)()
	if err := c.builds.await(ctx, method, args, opts); err != nil {
		return status.FromContextError(err).Err()
	}
	in, counted := inputOf(method, args)
	if counted {
		leave, err := c.suspicion.admit(ctx, in, noteOf(opts))
		if err != nil {
			return err
		}
		defer leave()
	}
	proc, done, err := c.condition.hold(method, opts)
	if err != nil {
		return err
	}
	defer done()
	if counted {
		defer proc.inputs.begin(in)()
		signal(proc.watch.began)
		signal(proc.watch.called)
	}
	c.handOver(args)
	err = proc.conn.Invoke(noteTaken(ctx, c.ender, proc, opts), method, args, reply, opts...)
	if ctx.Err() != nil || (err == nil && !interrupted(proc, reply)) {
		if counted && err == nil {
			c.suspicion.acquit(in)
		}
		return err
	}
	if code := status.Code(
		err,
	); err != nil && code != codes.Unavailable && code != codes.Canceled && !proc.ending.stopping.Load() {
		return err
	}
	if exit := proc.awaitExit(ctx); exit != nil {
		return exit
	}
	if err == nil {
		return &NotRunningError{Plugin: c.plugin, State: "is being stopped", Begun: true}
	}
	return err
}

// awaitExit returns how the process ended when a broken call was due to that; nil when it goes on, or ctx ends.
func (p *process) awaitExit(ctx context.Context) *ExitError {
	signal(p.watch.suspect)
	select {
	case <-p.ending.exited:
		return p.ending.exit
	case <-p.clock.After(exitNotice):
		if !p.ending.gone.Load() && p.ending.reason.Load() == nil {
			return nil
		}
		select { // it is being ended, or what it has left, and what it has written is being reported
		case <-p.ending.exited:
			return p.ending.exit
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return nil
}

// NewStream is refused: the plugin services have no streams.
func (c *caller) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "plugin services have no streams")
}

// handOver shows the service which deployment a call gives to the plugin, before the plugin can ask.
func (c *caller) handOver(request any) {
	if c.service == nil {
		return
	}
	switch request := request.(type) {
	case *deployment.ExecuteStageRequest:
		input := request.GetInput()
		c.service.Hand(c.plugin, input.GetDeployment().GetId(), input.GetStage().GetId())
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		c.service.Hand(c.plugin, request.GetInput().GetDeployment().GetId(), "")
	}
}

// outlasts reports whether a replaced process stays for a call. Questions for changes only wait, and are asked
// again.
func outlasts(method string) bool {
	return !strings.HasPrefix(method, "/"+livestate.LivestateChangeService_ServiceDesc.ServiceName+"/")
}

// interrupted reports whether an answer only says that the plugin was stopped in the middle of a stage.
func interrupted(proc *process, reply any) bool {
	answer, ok := reply.(*deployment.ExecuteStageResponse)
	if !ok || !proc.ending.stopping.Load() {
		return false
	}
	switch answer.GetStatus() {
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		return false
	default:
		return true
	}
}
