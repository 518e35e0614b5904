// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command waitapproval is the plugin of the stage WAIT_APPROVAL, which holds a pipeline until enough
// users have approved. piped starts it.
//
// The stage's "with" has approvers, a list of user names, and minApproverNum, how many different users
// have to approve (1 when absent). Without approvers anyone may approve; PipeCD v1 requires the list.
// Approvals are stored with the stage as they come: users see them, and they outlast a restart.
package main
