// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

// Deployments notices when deployments begin and end, and notifies a Reporter. The zero value is ready.
type Deployments struct {
	mu           sync.Mutex
	setDeploying func(application string, deploying bool)
}

func (d *Deployments) subscribe(setDeploying func(application string, deploying bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setDeploying = setDeploying
}

// Intercept is the layer of calls to the control plane that sees ReportApplicationDeployingStatus. That is the last
// report of a deployment that has ended, with or without success.
func (d *Deployments) Intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, conn, opts...)
	if r, ok := request.(*pipedservice.ReportApplicationDeployingStatusRequest); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.setDeploying != nil {
			d.setDeploying(r.GetApplicationId(), r.GetDeploying())
		}
	}
	return err
}
