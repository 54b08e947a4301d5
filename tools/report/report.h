/* tools/report/report.h - `tutti report`: wisdom as one page that opens without a network.
 *
 *     page       the page's parts in their order, and its style
 *     maps       for each collective which algorithm won, by ranks and length; and its times
 *     pictures   the machine, and plans of winners */
#ifndef TUTTI_TOOLS_REPORT_REPORT_H
#define TUTTI_TOOLS_REPORT_REPORT_H

int tt_tool_report(int argc, char **argv);

#endif
