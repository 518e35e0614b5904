// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

// Observe gives a client that tells the Reporter when deployments begin and end. Whoever reports those has to use it.
func (r *Reporter) Observe(client pipedservice.PipedServiceClient) pipedservice.PipedServiceClient {
	return &observed{PipedServiceClient: client, reporter: r}
}

type observed struct {
	pipedservice.PipedServiceClient
	reporter *Reporter
}

// ReportApplicationDeployingStatus is the last report of a deployment that has ended, whatever came of it.
func (o *observed) ReportApplicationDeployingStatus(ctx context.Context, req *pipedservice.ReportApplicationDeployingStatusRequest, opts ...grpc.CallOption) (*pipedservice.ReportApplicationDeployingStatusResponse, error) {
	answer, err := o.PipedServiceClient.ReportApplicationDeployingStatus(ctx, req, opts...)
	o.reporter.setDeploying(req.GetApplicationId(), req.GetDeploying())
	return answer, err
}
