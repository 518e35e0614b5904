// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command analysis is the plugin of the stage ANALYSIS, which lets a pipeline go on only while metrics, logs and HTTP
// answers are as expected. piped starts it.
//
// Every metric and request is evaluated at once and then every interval until the duration is over; those due at the
// end are evaluated, too. More failures than its failureLimit fail the stage. A query without an answer is a failure.
// One without data is a failure unless skipOnNoData, except for the first, which asks about the time before the stage.
//
// A stage that is run again after a crash of the agent goes on with its elapsed time and its failures, both of which
// are metadata of the stage. What is evaluated at that moment is evaluated again. A skip command ends the stage as
// skipped. Nothing that a stage logs holds a password, a token or a key.
package main
