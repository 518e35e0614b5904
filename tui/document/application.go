// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"cmp"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Application is one application.
type Application struct {
	// ID identifies the application at the control plane.
	ID string `json:"id"`
	// Name is that of its configuration.
	Name string `json:"name"`
	// Sync says whether the cluster has what Git asks for.
	Sync string `json:"sync" words:"sync"`
	// Health says whether its resources work.
	Health string `json:"health" words:"health"`
	// HealthReason names the worst of its resources that do not work, and how many more there are; of a healthy
	// application a resource that leaves pods of the old version.
	HealthReason string `json:"health_reason"`
	// Reason says why it is not in sync, in full: for drift a line for each object and field, so it has several lines.
	Reason string `json:"reason"`
	// ShortReason is the reason in one line.
	ShortReason string `json:"short_reason"`
	ConfigurationProblem
	Configured
	// URL is where it answers on this machine; empty while that is not known.
	URL string `json:"url"`
	// Commit is what its last successful deployment has deployed.
	Commit string `json:"commit"`
	// Versions are those of its artifacts that run.
	Versions []string `json:"versions"`
	// Deploying says that a deployment of it is under way.
	Deploying bool `json:"deploying"`
	// LatestDeployment is the id of the newest deployment.
	LatestDeployment string `json:"latest_deployment"`
	// DeployTargets are its deploy targets, as plugin/target.
	DeployTargets []string `json:"deploy_targets"`
	// Disabled says that it is not deployed.
	Disabled bool `json:"disabled"`
	// Resources counts its live resources; left out while none are known.
	Resources *ResourceCounts `json:"resources,omitempty"`
	Observer
}

// Observer is who looks at an application, and whether that lasts for long.
type Observer struct {
	// Piped is the id of the piped that deploys it.
	Piped string `json:"piped"`
	// LookingSince is when a look at its live state has begun; absent while none lasts for long. Health and sync are
	// those before it.
	LookingSince string `json:"looking_since,omitempty" format:"date-time"`
	// ExaminedAt is when a live state was reported last before the look.
	ExaminedAt string `json:"examined_at,omitempty" format:"date-time"`
}

// ConfigurationProblem is what is wrong with the configuration of an application.
type ConfigurationProblem struct {
	// Problem says what is wrong with its configuration.
	Problem string `json:"problem"`
	// NextStep says what to do about the problem.
	NextStep string `json:"next_step"`
}

// Configured is what the configuration of an application says, and where it is.
type Configured struct {
	// Repository is the id of its repository in the configuration of its piped; local is the one that the environment
	// watches.
	Repository string `json:"repository"`
	// Path is its directory in the repository.
	Path string `json:"path"`
	// ConfigFilename is the name of its configuration file.
	ConfigFilename string `json:"config_filename"`
	// Description is that of its configuration.
	Description string `json:"description"`
	// Labels are those of its configuration.
	Labels map[string]string `json:"labels"`
}

// watchedRepository is the id of the repository that an environment watches.
const watchedRepository = "local"

// RepositoryOf returns the id of the repository of an application.
func RepositoryOf(a *deckv1.Application) string {
	return cmp.Or(a.GetRepositoryId(), watchedRepository)
}

// ResourceCounts counts the live resources of an application.
type ResourceCounts struct {
	// Total counts all of them.
	Total uint32 `json:"total"`
	// Unhealthy counts those that do not work.
	Unhealthy uint32 `json:"unhealthy"`
	// Unknown counts those of unknown health.
	Unknown uint32 `json:"unknown"`
	// Drifted counts those that are not as in Git.
	Drifted uint32 `json:"drifted"`
}

// NewApplication returns the object of an application. problem is what is wrong with its configuration, if anything.
func NewApplication(a *deckv1.Application, problem *deckv1.Problem) Application {
	application := Application{
		ID: a.GetId(), Name: a.GetName(), Sync: Word(a.GetSync()), Health: Health(a.GetHealth()),
		HealthReason: a.GetHealthReason(),
		Reason:       a.GetSyncReason(), ShortReason: a.GetSyncShortReason(),
		ConfigurationProblem: ConfigurationProblem{problem.GetReason(), problem.GetNextStep()},
		Configured: Configured{RepositoryOf(a), a.GetPath(), a.GetConfigFilename(), a.GetDescription(),
			a.GetLabels()},
		URL: a.GetUrl(), Commit: a.GetRunningCommit(), Versions: List(a.GetRunningVersions()),
		Deploying: a.GetDeploying(), LatestDeployment: a.GetLatestDeploymentId(),
		DeployTargets: List(a.GetDeployTargets()), Disabled: a.GetDisabled(),
		Observer: Observer{a.GetPipedId(), moment(a.GetLookingSince()), moment(a.GetExaminedAt())},
	}
	if application.Labels == nil {
		application.Labels = map[string]string{}
	}
	if r := a.GetResources(); r != nil {
		application.Resources = &ResourceCounts{r.GetTotal(), r.GetUnhealthy(), r.GetUnknown(), r.GetDrifted()}
	}
	return application
}
