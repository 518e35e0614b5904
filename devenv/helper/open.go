// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"context"

	helperv1 "github.com/pipedeck/pipedeck/api/helper/v1"
)

// Opening says what is to be made reachable; see portforward.Request.
type Opening struct {
	// Cluster names the deploy target, for messages.
	Cluster string
	// Kubeconfig reaches it.
	Kubeconfig          string
	ApplicationID, Name string
	Port                string
}

// Open makes an application reachable from this machine, until the Helper is closed. Its errors are for users and end
// with the next step.
func (h *Helper) Open(ctx context.Context, o Opening) (url, detail string, err error) {
	r, err := h.acquire(ctx)
	if err != nil {
		return "", "", err
	}
	response, err := r.client.Open(ctx, &helperv1.OpenRequest{
		Cluster: o.Cluster, Kubeconfig: o.Kubeconfig, ApplicationId: o.ApplicationID, Name: o.Name, Port: o.Port,
	})
	if err != nil { // otherwise the program stays, because it forwards
		h.release(r)
	}
	return response.GetUrl(), response.GetDetail(), h.explain(ctx, r, err)
}
