// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

// Deployer is the name of the program without a mistake that deploys.
const Deployer = "deploys"

// ofDeploying are mistakes of a plugin that brings an application to two deploy targets.
func ofDeploying() []Fault {
	faults := []Fault{
		{Name: "deploys-drift-always", Case: "deploy.synced", Says: "drift is reported where there is none"},
		{Name: "deploys-nothing", Case: "deploy.synced", Says: "or the stage deploys nothing"},
		{Name: "deploys-first-target", Case: "deploy.synced", Says: "leaves out deploy targets"},
		{Name: "deploys-drift-never", Case: "deploy.drift", Says: "drift is not seen"},
		{Name: "deploys-unseen", Case: "deploy.drift", Says: "the live state says SYNCED"},
		{Name: "deploys-unseen", Case: "deploy.preview", Says: "the plan preview says that nothing changes"},
		{Name: "deploys-drift-of-first", Case: "deploy.drift", Says: "deploy targets are left out"},
		{Name: "deploys-preview-notes", Case: "deploy.preview.harmless", Says: "unless that is a cache", Noted: true},
		{Name: "deploys-drift-silent", Case: "deploy.drift.reason", Says: "OUT_OF_SYNC without a reason"},
		{Name: "deploys-version-of-running", Case: "versions.target", Says: "the version of the commit that runs"},
		{Name: "deploys-unnoticed", Case: "deploy.notified", Says: "did not report the application"},
		{Name: "deploys-without-health", Case: "deploy.health", Says: "the health is missing"},
		{Name: "deploys-live-at-one", Case: "deploy.targets.live", Says: "has no resource"},
		{Name: "deploys-live-elsewhere", Case: "deploy.targets.live", Says: "asked about the deploy target west alone"},
		{Name: "deploys-everywhere", Case: "deploy.targets.only", Says: "west alone has changed east"},
		{Name: "deploys-by-position", Case: "deploy.targets.only", Says: "west alone has changed east"},
		{Name: "deploys-to-two", Case: "deploy.targets.only", Says: "west alone does not: the stage ended in FAILURE"},
		{Name: "deploys-preview-blind", Case: "deploy.preview", Says: "says that nothing changes"},
		{Name: "deploys-at-preview", Case: "deploy.preview.harmless", Says: "the preview itself"},
		{Name: "deploys-at-rollback", Case: "deploy.rollback", Says: "what ran before is not live again"},
		{Name: "deploys-first-for-good", Case: "deploy.rollback", Says: "is still at east", Noted: true},
		{Name: "deploys-in-spite", Case: "deploy.synced", Says: "nothing can be written"},
		{Name: "previews-one-target", Case: "preview.targets.all", Says: "no result for the deploy target west"},
		{Name: "previews-into-source", Case: "preview.sources", Says: "has written app/plan.out"},
	}
	for i := range faults {
		faults[i].Deploys = true
	}
	return faults
}
