// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

type terraformApplication struct {
	// Workspace is the workspace to select. Default: none is selected.
	Workspace string `json:"workspace"`
	// TerraformVersion is the version of terraform.
	TerraformVersion string `json:"terraformVersion"`
	// Vars are variables, each as key=value.
	Vars []string `json:"vars" config:"assignments"`
	// VarFiles are files with variables.
	VarFiles []string `json:"varFiles"`
	// CommandFlags are more flags of the commands.
	CommandFlags terraformCommands `json:"commandFlags"`
	// CommandEnvs are the environment of the commands, each as KEY=value.
	CommandEnvs terraformEnvironments `json:"commandEnvs"`
}

func (*terraformApplication) v0Keys() map[string]string {
	return map[string]string{"input": "plugins.terraform itself"}
}

type terraformCommands struct {
	// Shared is for all commands.
	Shared []string `json:"shared"`
	// Init is for terraform init.
	Init []string `json:"init"`
	// Plan is for terraform plan.
	Plan []string `json:"plan"`
	// Apply is for terraform apply.
	Apply []string `json:"apply"`
}

type terraformEnvironments struct {
	// Shared is for all commands.
	Shared []string `json:"shared" config:"assignments"`
	// Init is for terraform init.
	Init []string `json:"init" config:"assignments"`
	// Plan is for terraform plan.
	Plan []string `json:"plan" config:"assignments"`
	// Apply is for terraform apply.
	Apply []string `json:"apply" config:"assignments"`
}

type terraformPlan struct {
	// ExitOnNoChanges ends the deployment when the plan is empty. Default false.
	ExitOnNoChanges bool `json:"exitOnNoChanges"`
}

type terraformTarget struct {
	// Vars are variables, each as key=value, before those of the application.
	Vars []string `json:"vars" config:"assignments"`
	// DriftDetectionEnabled looks for drift. Default true.
	DriftDetectionEnabled bool `json:"driftDetectionEnabled"`
}

type ecsApplication struct {
	// Input says what is deployed.
	Input ecsInput `json:"input"`
	// QuickSync are the options of a quick sync.
	QuickSync ecsSync `json:"quickSync"`
}

type ecsInput struct {
	// TaskDefinitionFile is the task definition. Default taskdef.json.
	TaskDefinitionFile string `json:"taskDefinitionFile"`
	// ServiceDefinitionFile is the service definition.
	ServiceDefinitionFile string `json:"serviceDefinitionFile"`
	// RunStandaloneTask runs the task without a service. Default false.
	RunStandaloneTask bool `json:"runStandaloneTask"`
	// ClusterARN is the cluster of a standalone task.
	ClusterARN string `json:"clusterArn"`
	// LaunchType is FARGATE or EC2. Default FARGATE.
	LaunchType string `json:"launchType" config:"oneof=FARGATE|EC2"`
	// AccessType is ELB or SERVICE_DISCOVERY. Default ELB.
	AccessType string `json:"accessType" config:"oneof=ELB|SERVICE_DISCOVERY"`
	// AwsvpcConfiguration is the network of a standalone task.
	AwsvpcConfiguration ecsNetwork `json:"awsvpcConfiguration"`
	// TargetGroups are the target groups of the load balancer.
	TargetGroups ecsTargetGroups `json:"targetGroups"`
}

type ecsNetwork struct {
	// Subnets are ids of subnets.
	Subnets []string `json:"subnets"`
	// AssignPublicIP is ENABLED or DISABLED.
	AssignPublicIP string `json:"assignPublicIp"`
	// SecurityGroups are ids of security groups.
	SecurityGroups []string `json:"securityGroups"`
}

type ecsTargetGroups struct {
	// Primary is for primary.
	Primary *ecsTargetGroup `json:"primary"`
	// Canary is for canary.
	Canary *ecsTargetGroup `json:"canary"`
}

type ecsTargetGroup struct {
	// TargetGroupARN is the target group.
	TargetGroupARN string `json:"targetGroupArn"`
	// ContainerName is the container that gets the traffic.
	ContainerName string `json:"containerName"`
	// ContainerPort is its port.
	ContainerPort int `json:"containerPort" config:"from=1,to=65535"`
}

type ecsSync struct {
	// Recreate stops the old tasks first. Default false.
	Recreate bool `json:"recreate"`
}

type ecsCanary struct {
	// Scale is the percentage of tasks.
	Scale amount `json:"scale" config:"percentage"`
}

type ecsTraffic struct {
	// Primary is the percentage for primary; canary gets the rest.
	Primary amount `json:"primary" config:"percentage"`
	// Canary is the percentage for canary; primary gets the rest.
	Canary amount `json:"canary" config:"percentage"`
}

type ecsTarget struct {
	// Region is the AWS region.
	Region string `json:"region"`
	// Profile is the profile in CredentialsFile.
	Profile string `json:"profile"`
	// CredentialsFile is the file with credentials.
	CredentialsFile string `json:"credentialsFile"`
	// RoleARN is the role to take with TokenFile.
	RoleARN string `json:"roleARN"`
	// TokenFile is the file with the web identity token.
	TokenFile string `json:"tokenFile"`
}

type cloudRunApplication struct {
	// Input says what is deployed.
	Input cloudRunInput `json:"input"`
	// QuickSync has no options.
	QuickSync cloudRunSync `json:"quickSync"`
}

type cloudRunSync struct{}

type cloudRunInput struct {
	// ServiceManifestFile is the service manifest. Default service.yaml.
	ServiceManifestFile string `json:"serviceManifestFile"`
}

type cloudRunPromote struct {
	// Percent is the percentage of traffic.
	Percent amount `json:"percent" config:"percentage"`
}

type cloudRunTarget struct {
	// Project is the Google Cloud project.
	Project string `json:"project"`
	// Region is the region.
	Region string `json:"region"`
	// CredentialsFile is the file of the service account.
	CredentialsFile string `json:"credentialsFile"`
}
