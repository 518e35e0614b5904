// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/release"
)

const (
	// recordTimeout bounds the writing of a record, also of a stage that was stopped.
	recordTimeout = 10 * time.Second
	// maxFailure bounds what a record says about a failure, in bytes.
	maxFailure = 1 << 10
)

// outcome is what a source has come to in a stage.
type outcome struct {
	source *Source
	loaded *Loaded
	// did is what was done with the commit; failed is why it was not, or nil.
	did    string
	failed error
}

// recordRelease writes the record of a release for `helm list`, if the application wants one. It never fails the stage.
func recordRelease(ctx context.Context, req *Request, c *cluster.Client, o outcome) {
	if o.loaded.Release == nil {
		return
	}
	s := o.source
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	r := release.Record{
		ApplicationID: req.Deployment.Application.ID, DeployTarget: s.App.DeployTarget(), Release: o.loaded.Release,
		Namespace: cmp.Or(s.App.Input.Namespace, c.Namespace), Manifests: o.loaded.Manifests,
		Description: o.did + " commit " + short(s.CommitHash), History: s.App.Input.HelmOptions.ReleaseHistory,
		Now: time.Now(),
	}
	if o.failed != nil {
		r.Failed = true
		text := strings.Join(strings.Fields(o.failed.Error()), " ")
		r.Description = "Failed at commit " + short(s.CommitHash) + ": " + text[:min(len(text), maxFailure)]
	}
	version, err := release.Write(ctx, c, r)
	if err != nil {
		req.Log.Errorf("No complete record of the release for helm: %v", err)
	}
	if version > 0 {
		req.Log.Infof("Recorded as version %d of release %s in namespace %s, for helm list", version,
			o.loaded.Release.Name, r.Namespace)
	}
}

// removeRecords deletes the records of releases with the application.
func removeRecords(ctx context.Context, req *Request, c *cluster.Client) error {
	app := req.Target.App
	deleted, err := release.Remove(ctx, c, req.Deployment.Application.ID, app.DeployTarget(),
		cmp.Or(app.Input.Namespace, c.Namespace))
	if deleted > 0 {
		req.Log.Infof("Deleted %s of its release", plural(deleted, "record"))
	}
	return err
}
